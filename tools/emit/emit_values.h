/*
emit_values.h - constant data as C: names, numbers, arrays, texts.
Part of tools/nnrt.c.

    >>names   names and texts in C
    >>values  bytes and numbers
*/
#ifndef NNRT_TOOL_EMIT_VALUES_H
#define NNRT_TOOL_EMIT_VALUES_H

#include <ctype.h>

#include "../common/job.h"

#define CLI_IDENTIFIER_BYTES 64

/* A list of integers that was written; its index is part of its name. */
typedef struct cli_emit_list {
    int64_t *data;
    uint32_t count;
} cli_emit_list;

/* Constants that the program may place in a section of its own: --section NAME=PATTERN. */
typedef struct cli_emit_section {
    char name[CLI_IDENTIFIER_BYTES]; /* of the macro, after NAME_DATA_ */
    const char *pattern;             /* of --section */
    size_t bytes;                    /* of its constants */
} cli_emit_section;

/* An output that is the next value of an input: --state IN=OUT, or a line of the metadata "states". */
typedef struct cli_emit_state {
    uint32_t in, out;
    bool inPlace;  /* one buffer; else two, of which the runs use one after the other */
    size_t offset; /* of the buffer in the state; of two buffers that of the first, from the first of all such */
    int zero;      /* the byte of a zero: the zero point of a quantized tensor */
} cli_emit_state;

typedef struct cli_emit {
    FILE *out;
    const char *path;
    char name[CLI_IDENTIFIER_BYTES], upper[CLI_IDENTIFIER_BYTES];
    NNRT_PreparedModel *prepared; /* has the plan */
    const nnrt_plan *plan;
    const nnrt_plan **inner; /* inner plans, each after the inner plans of its own steps */
    uint32_t nInner;
    const nnrt_plan_step **steps; /* steps of the plan, then of inner plans; the index numbers their attributes */
    uint32_t nSteps;
    const cli_job *job;
    bool wasm;                        /* for emit_wasm.h: the file is complete, and exports functions */
    bool small;                       /* --small: steps share the kernels of a device */
    uint32_t *sums;                   /* checksums of the steps' results; NULL: not checked */
    char (*io)[CLI_IDENTIFIER_BYTES]; /* parameter names of inputs, then outputs */
    uint32_t *constants;              /* per argument: the argument whose constant it is, or NNRT_NO_TENSOR */
    cli_emit_list *lists;
    uint32_t nLists;
    int column; /* current column of the output */
    cli_progress progress;
    size_t done, total; /* bytes of constants */
    nnrt_region regions[NNRT_MAX_REGIONS];
    char regionNames[NNRT_MAX_REGIONS][CLI_IDENTIFIER_BYTES], regionUpper[NNRT_MAX_REGIONS][CLI_IDENTIFIER_BYTES];
    uint32_t nRegions;                          /* 0: one arena */
    cli_emit_section sections[CLI_MOST_INPUTS]; /* the first one that fits a constant has it */
    uint32_t nSections;
    const cli_emit_section *section; /* of the array that is being written; NULL: none */
    cli_emit_state states[CLI_MOST_INPUTS];
    uint32_t nStates;
    size_t turnBytes, stateBytes; /* of one of the two buffers of all states that have two; of all */
} cli_emit;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>names */

/* Words that are no valid parameter names: keywords of C and C++, and names of our own parameters. */
static bool cli_emit_reserved(const char *text)
{
    static const char *const words[] = {
        "alignas",  "and",    "arena",    "asm",     "auto",   "bool",     "break",  "case",    "catch",    "char",
        "class",    "const",  "continue", "default", "delete", "do",       "double", "else",    "enum",     "export",
        "extern",   "false",  "float",    "for",     "friend", "goto",     "if",     "inline",  "int",      "io",
        "long",     "main",   "mutable",  "new",     "not",    "operator", "or",     "private", "public",   "register",
        "restrict", "return", "short",    "signed",  "sizeof", "static",   "struct", "switch",  "template", "this",
        "throw",    "true",   "try",      "typedef", "union",  "unsigned", "using",  "views",   "virtual",  "void",
        "volatile", "while",  "xor",      "nullptr", "typeid", "typename", "step",   "compl",   "bitand",   "bitor"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

/* Converts text to a C identifier: '_' for every other character; `stem` if nothing is left or the word is reserved. */
static void cli_emit_identifier(char *out, const char *text, const char *stem)
{
    size_t n = 0;
    bool any = false;
    for (; *text != '\0' && n + 16 < CLI_IDENTIFIER_BYTES; text++) {
        const bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
        const bool digit = *text >= '0' && *text <= '9';
        if (n == 0 && !letter)
            continue;
        any = any || letter;
        out[n++] = letter || digit ? *text : '_';
    }
    while (n > 0 && out[n - 1] == '_')
        n--;
    out[n] = '\0';
    if (!any || cli_emit_reserved(out) || strncmp(out, "nnrt", 4) == 0 || strncmp(out, "NNRT", 4) == 0)
        snprintf(out, CLI_IDENTIFIER_BYTES, "%s", stem);
}

/* The identifier in capitals, for macros. */
static void cli_emit_upper(char *out, const char *name)
{
    for (size_t i = 0; i < CLI_IDENTIFIER_BYTES; i++)
        out[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 32) : name[i];
}

/* Names of the parameters: those of the tensors, with a number appended to make them unique, in capitals as well. */
static bool cli_emit_io_names(cli_emit *e)
{
    const nnrt_plan *p = e->plan;
    e->io = (char(*)[CLI_IDENTIFIER_BYTES])cli_alloc((size_t)p->nInputs + p->nOutputs, sizeof(*e->io));
    for (uint32_t i = 0; e->io != NULL && i < p->nInputs + p->nOutputs; i++) {
        const bool output = i >= p->nInputs;
        const nnrt_plan_io *t = output ? &p->outputs[i - p->nInputs] : &p->inputs[i];
        char upper[CLI_IDENTIFIER_BYTES], other[CLI_IDENTIFIER_BYTES];
        bool taken = false;
        cli_emit_identifier(e->io[i], t->name != NULL ? t->name : "", output ? "out" : "in");
        cli_emit_upper(upper, e->io[i]);
        for (uint32_t k = 0; k < i; k++) {
            cli_emit_upper(other, e->io[k]);
            taken = taken || strcmp(other, upper) == 0;
        }
        for (uint32_t k = 0; k < e->nRegions; k++)
            taken = taken || strcmp(e->regionNames[k], e->io[i]) == 0;
        taken = taken || (e->nStates > 0 && strcmp("state", e->io[i]) == 0);
        if (taken) {
            const size_t n = strlen(e->io[i]);
            snprintf(e->io[i] + n, CLI_IDENTIFIER_BYTES - n, "_%s%u", output ? "y" : "x",
                     (unsigned)(output ? i - p->nInputs : i));
        }
    }
    return e->io != NULL;
}

/* Sets the name prefix from --name, or from the model's path. False and an error if it is invalid. */
static bool cli_emit_name(cli_emit *e, const cli_args *args)
{
    const char *text = args->name;
    if (text == NULL) {
        const char *slash = strrchr(args->model, '/');
        text = slash != NULL ? slash + 1 : args->model;
        cli_emit_identifier(e->name, text, "model");
        for (size_t n = strlen(e->name);
             n > 5 && (strcmp(e->name + n - 5, "_onnx") == 0 || strcmp(e->name + n - 5, "_nnrt") == 0);)
            e->name[n -= 5] = '\0';
    } else {
        cli_emit_identifier(e->name, text, "");
        if (strcmp(e->name, text) != 0) {
            cli_usage("emit-c: --name %s: expected a C identifier that begins with a letter, at most %d long, and not "
                      "with nnrt",
                      text, CLI_IDENTIFIER_BYTES - 16);
            return false;
        }
    }
    cli_emit_upper(e->upper, e->name);
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>values */

/* True if an element has no decimal literal (NaN, Inf, float16); the array is then written as bits. */
static bool cli_emit_as_bits(NNRT_DataType type, const void *data, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float f;
        double d = 0;
        if (type == NNRT_DATA_TYPE_FLOAT32) {
            memcpy(&f, (const uint8_t *)data + i * sizeof(f), sizeof(f));
            d = (double)f;
        } else if (type == NNRT_DATA_TYPE_FLOAT64) {
            memcpy(&d, (const uint8_t *)data + i * sizeof(d), sizeof(d));
        }
        if (isnan(d) || isinf(d))
            return true;
    }
    return false;
}

static NNRT_DataType cli_emit_stored(NNRT_DataType type, const void *data, size_t count)
{
    if (!cli_emit_as_bits(type, data, count))
        return type;
    return type == NNRT_DATA_TYPE_FLOAT32 ? NNRT_DATA_TYPE_UINT32 : NNRT_DATA_TYPE_UINT64;
}

/* A finite number in decimal that reads back as the same bits: 9 digits for float, 17 for double. Hexadecimal floats of
   C99 are errors before C++17. */
static void cli_emit_real(char *out, size_t size, int digits, double v)
{
    const int n = snprintf(out, size, "%.*g", digits, v);
    if (strpbrk(out, ".e") == NULL)
        snprintf(out + n, size - (size_t)n, ".0");
}

/* One element as C text. */
static void cli_emit_element(char *out, size_t size, NNRT_DataType type, const void *at)
{
    uint8_t raw[8] = {0};
    memcpy(raw, at, nnrt_type_size(type));
    switch (type) {
    case NNRT_DATA_TYPE_FLOAT32: {
        float f;
        memcpy(&f, raw, sizeof(f));
        cli_emit_real(out, size - 1, 9, (double)f);
        strcat(out, "f");
        break;
    }
    case NNRT_DATA_TYPE_FLOAT64: {
        double d;
        memcpy(&d, raw, sizeof(d));
        cli_emit_real(out, size, 17, d);
        break;
    }
    case NNRT_DATA_TYPE_BOOL:
    case NNRT_DATA_TYPE_UINT8: snprintf(out, size, "%u", (unsigned)raw[0]); break;
    case NNRT_DATA_TYPE_INT8: snprintf(out, size, "%d", (int)(int8_t)raw[0]); break;
    case NNRT_DATA_TYPE_FLOAT16:
    case NNRT_DATA_TYPE_UINT16: {
        uint16_t u;
        memcpy(&u, raw, sizeof(u));
        snprintf(out, size, "0x%04x", (unsigned)u);
        break;
    }
    case NNRT_DATA_TYPE_INT16: {
        int16_t i;
        memcpy(&i, raw, sizeof(i));
        snprintf(out, size, "%d", (int)i);
        break;
    }
    case NNRT_DATA_TYPE_INT32: {
        int32_t i;
        memcpy(&i, raw, sizeof(i));
        snprintf(out, size, i == INT32_MIN ? "(-2147483647 - 1)" : "%ld", (long)i);
        break;
    }
    case NNRT_DATA_TYPE_UINT32: {
        uint32_t u;
        memcpy(&u, raw, sizeof(u));
        snprintf(out, size, "0x%08lxu", (unsigned long)u);
        break;
    }
    case NNRT_DATA_TYPE_INT64: {
        int64_t i;
        memcpy(&i, raw, sizeof(i));
        if (i == INT64_MIN)
            snprintf(out, size, "INT64_MIN");
        else
            snprintf(out, size, i >= INT32_MIN + 1 && i <= INT32_MAX ? "%lld" : "INT64_C(%lld)", (long long)i);
        break;
    }
    default: {
        uint64_t u;
        memcpy(&u, raw, sizeof(u));
        snprintf(out, size, "UINT64_C(0x%016llx)", (unsigned long long)u);
        break;
    }
    }
}

/* Appends text to a list of values, breaking lines when they are full. */
static void cli_emit_item(cli_emit *e, const char *text, bool last)
{
    const int n = (int)strlen(text) + 2;
    if (e->column == 0 || e->column + n > 118) {
        fputs(e->column == 0 ? "    " : "\n    ", e->out);
        e->column = 4;
    }
    fprintf(e->out, "%s%s", text, last ? "" : ", ");
    e->column += n;
}

/* static const TYPE NAME_SUFFIX[count] = {...}; count 0 becomes 1 element, since C has no empty arrays. */
static void cli_emit_array(cli_emit *e, const char *suffix, NNRT_DataType type, const void *data, size_t count)
{
    const size_t width = nnrt_type_size(type);
    const NNRT_DataType stored = cli_emit_stored(type, data, count);
    char text[48];
    fprintf(e->out, "static const %s_DATA%s%s %s %s_%s[%.0f] = {\n", e->upper, e->section != NULL ? "_" : "",
            e->section != NULL ? e->section->name : "", cli_c_type(stored), e->name, suffix,
            count > 0 ? (double)count : 1.0);
    e->column = 0;
    for (size_t i = 0; i < count; i++) {
        cli_emit_element(text, sizeof(text), stored, (const uint8_t *)data + i * width);
        cli_emit_item(e, text, i + 1 == count);
        e->done += width;
        if (i % 4096 == 0)
            cli_progress_show(&e->progress, e->done / 1024, e->total / 1024);
    }
    fputs(count > 0 ? "};\n" : "    0};\n", e->out);
}

/* Writes untrusted text as a C string literal. */
static void cli_emit_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; text != NULL && *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", *text);
        else if (c < 32 || c > 126 || c == '?')
            fprintf(out, "\\%03o", (unsigned)c);
        else
            fputc(*text, out);
    }
    fputc('"', out);
}

/* Writes untrusted text inside a comment. */
static void cli_emit_remark(FILE *out, const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        fputc(*text < 32 || *text > 126 || *text == '*' || *text == '\\' || *text == '?' ? '_' : *text, out);
}

static const char *cli_emit_type_name(NNRT_DataType type)
{
    switch (type) {
#define CLI_TYPE_NAME(name, number, bytes, text)                                                                       \
    case number: return "NNRT_DATA_TYPE_" #name;
        NNRT_DATA_TYPES(CLI_TYPE_NAME)
    default: return "NNRT_DATA_TYPE_UNKNOWN";
    }
}

#endif /* NNRT_TOOL_EMIT_VALUES_H */
