/*
emit.h - nnrt emit-c: writes a model and its execution plan as constant data in C.
Part of tools/nnrt.c.

The plan of nnrt_plan_build is written unchanged: constants, resolved attributes, views, steps that name their kernels.
A program links these kernels and no operator table. Duplicates are written once: constants with the same address, lists
of integers with the same values. Subgraphs are plans that steps run (nnrt_plan_graphs), written before these steps.

    >>names       names and texts in C
    >>values      bytes and numbers
    >>steps       steps of the plan and of its inner plans
    >>placement   memory regions, sections of constants, states
    >>constants   weights and derived constants
    >>attributes  attribute structs
    >>plan        views, arguments, steps
    >>functions   functions for the program, and the self-test
    >>file        the text around them
    >>exports     functions of a WebAssembly module (emit_wasm.h)
    >>all         the command
*/
#ifndef NNRT_TOOL_EMIT_H
#define NNRT_TOOL_EMIT_H

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

/* The C type of an element. */
static const char *cli_emit_type(NNRT_DataType type)
{
    switch (type) {
    case NNRT_DATA_TYPE_FLOAT32: return "float";
    case NNRT_DATA_TYPE_FLOAT64: return "double";
    case NNRT_DATA_TYPE_FLOAT16: return "uint16_t";
    case NNRT_DATA_TYPE_BOOL: return "uint8_t";
    case NNRT_DATA_TYPE_INT8: return "int8_t";
    case NNRT_DATA_TYPE_INT16: return "int16_t";
    case NNRT_DATA_TYPE_INT32: return "int32_t";
    case NNRT_DATA_TYPE_INT64: return "int64_t";
    case NNRT_DATA_TYPE_UINT8: return "uint8_t";
    case NNRT_DATA_TYPE_UINT16: return "uint16_t";
    case NNRT_DATA_TYPE_UINT32: return "uint32_t";
    default: return "uint64_t";
    }
}

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
            e->section != NULL ? e->section->name : "", cli_emit_type(stored), e->name, suffix,
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

static size_t cli_emit_count(const nnrt_view *v);
static const char *cli_emit_tensor(const cli_emit *e, uint32_t tensor);

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
    bool good = s->op != NULL && (s->op->flags & NNRT_OP_INPLACE) != 0 && s->nOut > 0 &&
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
        const char *type = cli_emit_type(e->plan->inputs[e->states[i].in].dataType);
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
                cli_emit_type(e->plan->inputs[e->states[i].in].dataType), e->name, e->io[e->states[i].in]);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>constants */

static size_t cli_emit_count(const nnrt_view *v)
{
    size_t count = 1;
    for (int32_t i = 0; i < v->rank; i++)
        count *= (size_t)v->dims[i];
    return count;
}

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

static const char *cli_emit_tensor(const cli_emit *e, uint32_t tensor)
{
    const char *name = e->job->model->allTensors.data[tensor].name;
    return name != NULL ? name : "";
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
            fprintf(e->out, "%s%s %s[%.0f]", i < e->plan->nInputs ? "const " : "", cli_emit_type(t->dataType),
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
        fprintf(e->out, "    static %s y%u[%.0f];\n", cli_emit_type(p->outputs[i].dataType), (unsigned)i,
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
            fprintf(e->out, ", (const %s *)(const void *)%s_x%u", cli_emit_type(e->plan->inputs[i].dataType), e->name,
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
        fprintf(e->out, "    static %s y%u[%.0f];\n", cli_emit_type(p->outputs[i].dataType), (unsigned)i,
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
                    cli_emit_type(cli_emit_io_at(e, i)->dataType), (unsigned)i, cli_emit_elements(cli_emit_io_at(e, i)));
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

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>all */

static bool cli_emit_all(cli_emit *e)
{
    bool good = true;
    if (e->wasm)
        cli_wasm_begin(e);
    cli_emit_top(e);
    cli_emit_declarations(e);
    fprintf(e->out,
            "\n#if defined(NNRT_IMPLEMENTATION) && !defined(%s_MODEL_IMPLEMENTED)\n#define %s_MODEL_IMPLEMENTED\n\n"
            "#ifndef %s_DATA /* placement of weights and other constants, such as "
            "__attribute__((section(\".rodata.nn\"))) "
            "*/\n#define %s_DATA\n"
            "#endif\n",
            e->upper, e->upper, e->upper, e->upper);
    cli_emit_section_macros(e);
    if (e->plan->nRegions > 1)
        fputs("#ifndef NNRT_REGIONS\n"
              "#error \"this model has several memory regions: define NNRT_REGIONS before nnrt_plan.h\"\n#endif\n",
              e->out);
    cli_emit_constants(e);
    fputs("\n", e->out);
    for (uint32_t i = 0; i < e->plan->nArgs; i++)
        cli_emit_quant(e, i);
    for (uint32_t i = 0; good && i < e->nSteps; i++)
        good = cli_emit_attr(e, i);
    if (!good)
        return false;
    fputs("\n", e->out);
    cli_emit_specialized(e);
    cli_emit_plan(e);
    cli_emit_functions(e);
    if (!e->wasm)
        cli_emit_selftest(e);
    fprintf(e->out, "\n#endif /* NNRT_IMPLEMENTATION */\n");
    if (e->wasm)
        cli_wasm_end(e);
    return true;
}

/* Opens the file, writes all of it, closes it; on failure an existing file stays unchanged. */
static int cli_emit_write(cli_emit *e, const cli_args *args)
{
    cli_out out;
    bool good;
    int status;
    if (!cli_emit_find_constants(e))
        return CLI_FAILED;
    if ((status = cli_emit_read_placement(e, args)) != CLI_DONE)
        return status;
    if (!cli_emit_io_names(e) || cli_out_open(&out, e->path, true) != CLI_DONE)
        return CLI_FAILED;
    e->out = out.f;
    good = cli_emit_all(e);
    cli_progress_end(&e->progress);
    return cli_out_close(&out, good);
}

/* Whether the kernels of all steps exist on the target: reference kernels, and described kernels of a device. */
static bool cli_emit_check_kernels(const cli_emit *e, const char *model, const char *device)
{
    for (uint32_t i = 0; i < e->nSteps; i++) {
        const nnrt_plan_step *s = e->steps[i];
        bool reference = s->op == NULL && strcmp(s->kernelName, "nnrt_reshape") == 0;
        for (uint32_t k = 0; s->op != NULL && k < s->op->kernelCount; k++)
            reference = reference || strcmp(s->op->kernels[k].name, s->kernelName) == 0;
        if (!reference && s->deviceAttr == NULL && cli_emit_runs(s) == NULL) {
            (void)cli_fail("cannot write %s as C: kernel %s of step '%s' exists only in device '%s' of this machine; "
                           "use --device reference or --device mcu:TARGET",
                           model, s->kernelName, s->name, device);
            return false;
        }
    }
    return true;
}

/* The plan of a prepared model, if it can be written as C; NULL: it cannot, which is reported. */
static const nnrt_plan *cli_emit_plan_of(const NNRT_PreparedModel *prepared, const char *model, const char *device)
{
    const nnrt_plan *plan = nnrt_prepared_plan(prepared);
    nnrt_error error;
    memset(&error, 0, sizeof(error));
    if (plan == NULL)
        (void)cli_fail("cannot write %s as C: device '%s' has no plan; use --device reference or --device mcu:TARGET",
                       model, device);
    else if (nnrt_plan_check_static(plan, &error) == NNRT_SUCCESS)
        return plan;
    else
        (void)cli_fail("cannot write %s as C: %s; emit-c requires static shapes", model, error.message);
    return NULL;
}

/* Makes the plan on `device`. With memory regions a plan of one arena comes first: its steps, which are the same,
   compute the checksums of --golden, as this program's executor knows no regions. */
static int cli_emit_build(cli_emit *e, const cli_args *args, const char *device, NNRT_ModelConfig *config,
                          nnrt_memory *memory)
{
    for (uint32_t way = e->nRegions > 0 ? 0 : 1; way < 2; way++) {
        if (e->prepared != NULL)
            e->prepared->vtbl->Destroy(e->prepared);
        e->prepared = NULL;
        config->regions = e->regions;
        config->nRegions = way == 1 ? e->nRegions : 0;
        if (nnrt_device_prepare(nnrt_device_find(device), e->job->model, config, &e->prepared) != NNRT_SUCCESS)
            return cli_fail("cannot plan %s: %s", args->model, config->error->message);
        e->plan = cli_emit_plan_of(e->prepared, args->model, device);
        if (e->plan == NULL || (args->golden && e->sums == NULL && !cli_emit_sums(e, memory)))
            return CLI_FAILED;
    }
    return cli_emit_find_steps(e) && cli_emit_check_kernels(e, args->model, device) ? CLI_DONE : CLI_FAILED;
}

/* The step whose arguments or scratch end at the end of the arena; NULL: the arena is empty. */
static const nnrt_plan_step *cli_emit_largest_step(const cli_emit *e)
{
    for (uint32_t i = 0; i < e->nSteps; i++) {
        const nnrt_plan_step *s = e->steps[i];
        size_t end = s->scratchBytes > 0 ? s->scratch + s->scratchBytes : 0;
        for (uint32_t k = 0; k < s->nIn + s->nDerived + s->nOut; k++) {
            const nnrt_plan_arg *a = &e->plan->args[s->arg + k];
            const size_t bytes = cli_emit_count(&a->view) * nnrt_type_size(a->view.dataType);
            if (a->kind == NNRT_PLACE_ARENA && a->offset + bytes > end)
                end = a->offset + bytes;
        }
        if (end > 0 && (end + 7) / 8 * 8 >= e->plan->arenaBytes)
            return s;
    }
    return NULL;
}

/* Rule of --arena: the arena is at most that large. */
static int cli_emit_check_arena(const cli_emit *e, const cli_args *args)
{
    const nnrt_plan_step *s = cli_emit_largest_step(e);
    if (args->arenaBytes == 0 || e->plan->arenaBytes <= args->arenaBytes)
        return CLI_DONE;
    return cli_fail("--arena %u: the arena of %s takes %.0f bytes, the most at step '%s' (%s); a smaller input or "
                    "--device mcu:TARGET, whose convolutions overwrite their input, makes it smaller",
                    (unsigned)args->arenaBytes, args->model, (double)e->plan->arenaBytes, s != NULL ? s->name : "",
                    s != NULL ? s->kernelName : "");
}

/* Prepares the model of job on `device`, for an arena with 8-byte alignment, and writes its plan; the job's inputs and
   results become the self-test. */
static int cli_emit_job(const cli_job *job, const cli_args *args, const char *device)
{
    NNRT_ModelConfig config;
    nnrt_memory memory;
    nnrt_error error;
    cli_emit e;
    int status;
    memset(&e, 0, sizeof(e));
    memset(&config, 0, sizeof(config));
    memset(&error, 0, sizeof(error));
    if (!cli_emit_name(&e, args) || cli_emit_read_regions(&e, args) != CLI_DONE)
        return CLI_USAGE;
    config.error = &error;
    config.arenaAlignment = 8;
    config.callerWorkspace = true;
    if (job->fromNnrt)
        config.inputDims = nnrt_dims_list_make(job->in.shapes, job->in.count + job->in.states);
    nnrt_memory_allocate(&memory, NULL);
    e.job = job;
    e.path = args->output;
    e.small = args->small;
    e.wasm = args->wasm;
    e.progress.label = "emit-c";
    status = cli_emit_build(&e, args, device, &config, &memory);
    if (status == CLI_DONE)
        status = cli_emit_check_arena(&e, args);
    if (status == CLI_DONE)
        status = cli_emit_write(&e, args);
    if (status == CLI_DONE && !e.wasm && strcmp(e.path, "-") != 0) {
        cli_put_name(stdout, e.path);
        printf("  %s_run, %s_run_in, %s_selftest; ", e.name, e.name, e.name);
        for (uint32_t r = 0; r < (e.nRegions > 0 ? e.nRegions : 1); r++)
            printf("%s %.0f bytes, ", e.nRegions > 0 ? e.regionNames[r] : "arena",
                   (double)(e.nRegions > 0 ? e.plan->regionBytes[r] : e.plan->arenaBytes));
        if (e.nStates > 0)
            printf("state %.0f bytes, ", (double)e.stateBytes);
        printf("weights %.0f bytes\n", (double)(e.plan->constantBytes + e.plan->derivedBytes));
    }
    for (uint32_t i = 0; i < e.nLists; i++)
        free(e.lists[i].data);
    free(e.lists);
    free(e.io);
    free(e.constants);
    free(e.inner);
    free(e.steps);
    if (e.prepared != NULL)
        e.prepared->vtbl->Destroy(e.prepared);
    nnrt_memory_end(&memory);
    return status;
}

/* Creates a session on `device` with input values: the given ones, else random ones. */
static int cli_emit_prepare(cli_job *job, const cli_args *args, const char *device)
{
    cli_args own = *args;
    int status = cli_inputs_list(&job->in, args);
    bool all = job->in.count == 1 && args->inputCount > 0; /* all inputs have a value */
    uint64_t seed;
    own.device = device; /* the self-test expects its bits */
    for (uint32_t i = 0; i < args->inputCount; i++)
        all = all || cli_is_random(args->inputs[i], &seed);
    if (!all && own.inputCount < CLI_MOST_INPUTS)
        own.inputs[own.inputCount++] = "random";
    if (status == CLI_DONE)
        status = cli_inputs_fill(&job->in, &own);
    if (status == CLI_DONE)
        status = cli_job_start(job, &own);
    return status == CLI_DONE ? cli_job_run(job) : status;
}

static int cli_emit_c(const cli_args *args)
{
    const char *device = args->device != NULL ? args->device : "reference";
    cli_job job;
    int status;
    memset(&job, 0, sizeof(job));
    status = cli_emit_prepare(&job, args, device);
    for (uint32_t i = 0; status == CLI_DONE && i < job.model->nodes.count; i++)
        if (job.model->nodes.data[i].nodeType < 0)
            status = cli_fail("cannot write %s as C: node %u '%s' is of the application's operator %s, whose kernel "
                              "exists only in this program",
                              args->model, (unsigned)i, job.model->nodes.data[i].name,
                              nnrt_op_find(job.model->nodes.data[i].nodeType)->name);
    if (status == CLI_DONE)
        status = cli_emit_job(&job, args, device);
    cli_job_free(&job);
    return status;
}

#endif /* NNRT_TOOL_EMIT_H */
