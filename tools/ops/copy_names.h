/*
copy_names.h - the names of operators elsewhere, and the operator that a name stands for.
Part of tools/nnrt.c.
*/
#ifndef NNRT_TOOL_COPY_NAMES_H
#define NNRT_TOOL_COPY_NAMES_H

#include "../../formats/nnrt_onnx.h"
#include "copy_text.h"

/* Names of operators elsewhere, in TensorFlow Lite, PyTorch and papers; ONNX names come from nnrt_onnx_operator. */
static const cli_copy_pair cli_copy_aliases[] = {
    {"Attn", "ATTENTION"}, {"AveragePool2D", "AVGPOOL_FUSION"}, {"AvgPool", "AVGPOOL_FUSION"}, {"AvgPool2D", "AVGPOOL_FUSION"},
    {"BatchMatMul", "MATMUL_FUSION"}, {"BatchNorm", "FUSED_BATCH_NORM"}, {"Bmm", "MATMUL_FUSION"},
    {"Concatenation", "CONCAT"}, {"Conv1D", "CONV2D_FUSION"}, {"Conv2D", "CONV2D_FUSION"}, {"Conv3D", "CONV_3D"},
    {"Deconvolution", "CONV2D_TRANSPOSE_FUSION"}, {"Dense", "FULL_CONNECTION"}, {"DepthwiseConv", "CONV2D_FUSION"},
    {"DepthwiseConv2D", "CONV2D_FUSION"}, {"Dequantize", "QUANT_DTYPE_CAST"}, {"FullyConnected", "FULL_CONNECTION"},
    {"Gemm", "FULL_CONNECTION"}, {"GroupNorm", "GROUP_NORM_FUSION"}, {"InnerProduct", "FULL_CONNECTION"},
    {"Interpolate", "RESIZE"}, {"LayerNorm", "LAYER_NORM_FUSION"}, {"Linear", "FULL_CONNECTION"}, {"Logistic", "ACTIVATION"},
    {"MaxPool2D", "MAX_POOL_FUSION"}, {"Mean", "REDUCE_FUSION"}, {"MultiHeadAttention", "ATTENTION"},
    {"NMS", "NON_MAX_SUPPRESSION"}, {"Pack", "STACK"}, {"PixelShuffle", "DEPTH_TO_SPACE"}, {"Quantize", "QUANTIZE_LINEAR"},
    {"ReLU6", "ACTIVATION"}, {"ResizeBilinear", "RESIZE"}, {"ResizeNearestNeighbor", "RESIZE"},
    {"RMSNorm", "RMS_NORMALIZATION"}, {"ScaledDotProductAttention", "ATTENTION"}, {"SDPA", "ATTENTION"},
    {"SiLU", "ACTIVATION"}, {"Sum", "REDUCE_FUSION"}, {"TransposeConv", "CONV2D_TRANSPOSE_FUSION"}, {"Unpack", "UNSTACK"},
    {"Upsample", "RESIZE"}, {NULL, NULL}};

/* True if two names are equal except for case, '_', '-', and a FUSION at the end of the operator's name. */
static bool cli_copy_alike(const char *name, const char *other)
{
    for (;; name++, other++) {
        name += strspn(name, "_-");
        other += strspn(other, "_-");
        if (*name == '\0')
            return *other == '\0' || strcmp(other, "FUSION") == 0;
        if (cli_upper(*name) != cli_upper(*other))
            return false;
    }
}

/* Operators that another name stands for, separated by spaces, the most usual one first. NULL: unknown name. */
static const char *cli_copy_meaning(const char *name)
{
    nnrt_onnx_about about;
    const nnrt_op *op;
    for (uint32_t i = 0; (op = nnrt_op_at(i)) != NULL; i++)
        if (cli_copy_alike(name, op->name))
            return op->name;
    for (uint32_t i = 0; cli_copy_aliases[i].name != NULL; i++)
        if (cli_copy_alike(name, cli_copy_aliases[i].name))
            return cli_copy_aliases[i].what;
    for (uint32_t i = 0; nnrt_onnx_operator(i, &about); i++)
        if (cli_copy_alike(name, about.name) && *about.becomes != '\0')
            return about.becomes;
    return NULL;
}

/* The three closest names, the closest first, and the operators they stand for. */
typedef struct cli_copy_near {
    const char *names[3], *what[3];
    unsigned far[3];
} cli_copy_near;

static void cli_copy_look(cli_copy_near *n, const char *name, const char *other, const char *what)
{
    const unsigned distance = cli_distance(name, other);
    int at = 3, end = 2;
    for (int k = 0; k < 3; k++)
        if (n->what[k] != NULL && strcmp(n->what[k], what) == 0) {
            if (n->far[k] <= distance)
                return;
            end = k; /* only the closest name of each operator */
        }
    while (at > 0 && (n->what[at - 1] == NULL || distance < n->far[at - 1]))
        at--;
    if (at == 3)
        return;
    for (int k = end; k > at; k--) {
        n->names[k] = n->names[k - 1];
        n->what[k] = n->what[k - 1];
        n->far[k] = n->far[k - 1];
    }
    n->names[at] = other;
    n->what[at] = what;
    n->far[at] = distance;
}

/* Reports an unknown name with the closest ones: of operators here and elsewhere, or of kernels. */
static int cli_copy_unknown(const char *name)
{
    cli_copy_near near;
    nnrt_onnx_about about;
    const nnrt_op *op;
    char text[512] = "";
    size_t at = 0;
    memset(&near, 0, sizeof(near));
    for (uint32_t i = 0; (op = nnrt_op_at(i)) != NULL; i++) {
        cli_copy_look(&near, name, op->name, op->name);
        for (uint32_t k = 0; k < op->kernelCount && strncmp(name, "nnrt_", 5) == 0; k++)
            cli_copy_look(&near, name, op->kernels[k].name, op->kernels[k].name);
    }
    for (uint32_t i = 0; cli_copy_aliases[i].name != NULL; i++)
        cli_copy_look(&near, name, cli_copy_aliases[i].name, cli_copy_aliases[i].what);
    for (uint32_t i = 0; nnrt_onnx_operator(i, &about); i++)
        if (*about.becomes == '\0' && *about.with != '\0' && cli_copy_alike(name, about.name))
            return cli_fail("%s is not an operator of nnrt: the ONNX importer uses %s instead", about.name, about.with);
        else if (*about.becomes != '\0')
            cli_copy_look(&near, name, about.name, about.becomes);
    for (int k = 0; k < 3 && near.names[k] != NULL && at < sizeof(text); k++) {
        const bool same = strcmp(near.names[k], near.what[k]) == 0;
        at += nnrt_text(text + at, sizeof(text) - at, "%s%s%s%s%s", k > 0 ? ", " : "", near.what[k], same ? "" : " (",
                        same ? "" : near.names[k], same ? "" : ")");
    }
    return cli_fail("unknown operator or kernel '%s'; the nearest names are %s; 'nnrt ops' lists all operators", name,
                    text);
}

#endif /* NNRT_TOOL_COPY_NAMES_H */
