/*
frontend.h - nnrt emit-frontend: writes a front end for sound and sensor signals as constant data in C.
Part of tools/nnrt.c.

    >>frontend_words  the description as text
    >>frontend_emit   the file
*/
#ifndef NNRT_TOOL_FRONTEND_H
#define NNRT_TOOL_FRONTEND_H

#include "../../core/nnrt_frontend.h"
#include "emit_values.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>frontend_words "rate=16000,window=640,output=int8": members of nnrt_frontend_desc. */

typedef struct cli_frontend_member {
    const char *name;
    size_t offset;
    char kind;         /* i: int32, f: float, b: bool */
    const char *words; /* names of 0, 1, ... separated by spaces; NULL: a number */
} cli_frontend_member;

#define CLI_FRONTEND_MEMBER(name, kind, words)                                                                         \
    {                                                                                                                  \
        #name, offsetof(nnrt_frontend_desc, name), kind, words                                                         \
    }

static const cli_frontend_member cli_frontend_members[] = {
    CLI_FRONTEND_MEMBER(arithmetic, 't', NULL),
    CLI_FRONTEND_MEMBER(output, 't', NULL),
    CLI_FRONTEND_MEMBER(rate, 'i', NULL),
    CLI_FRONTEND_MEMBER(window, 'i', NULL),
    CLI_FRONTEND_MEMBER(hop, 'i', NULL),
    CLI_FRONTEND_MEMBER(fft, 'i', NULL),
    CLI_FRONTEND_MEMBER(windowKind, 'i', "hann hamming rectangular"),
    CLI_FRONTEND_MEMBER(symmetric, 'b', "no yes"),
    CLI_FRONTEND_MEMBER(removeMean, 'b', "no yes"),
    CLI_FRONTEND_MEMBER(fullScale, 'f', NULL),
    CLI_FRONTEND_MEMBER(spectrum, 'i', "power magnitude"),
    CLI_FRONTEND_MEMBER(mels, 'i', NULL),
    CLI_FRONTEND_MEMBER(melScale, 'i', "htk slaney"),
    CLI_FRONTEND_MEMBER(melTriangles, 'b', "no yes"),
    CLI_FRONTEND_MEMBER(melArea, 'b', "no yes"),
    CLI_FRONTEND_MEMBER(lower, 'f', NULL),
    CLI_FRONTEND_MEMBER(upper, 'f', NULL),
    CLI_FRONTEND_MEMBER(log, 'i', "ln log10 db none"),
    CLI_FRONTEND_MEMBER(offset, 'f', NULL),
    CLI_FRONTEND_MEMBER(floor, 'f', NULL),
    CLI_FRONTEND_MEMBER(dct, 'i', NULL),
    CLI_FRONTEND_MEMBER(dctEqual, 'b', "no yes"),
    CLI_FRONTEND_MEMBER(scale, 'f', NULL),
    CLI_FRONTEND_MEMBER(zeroPoint, 'i', NULL),
};

#define CLI_FRONTEND_MEMBERS (sizeof(cli_frontend_members) / sizeof(cli_frontend_members[0]))

/* Index of text in a list of words separated by spaces; -1 if it is not in the list. */
static int32_t cli_frontend_word(const char *text, const char *words)
{
    const size_t n = strlen(text);
    for (int32_t i = 0; *words != '\0'; i++) {
        const size_t length = strcspn(words, " ");
        if (length == n && memcmp(words, text, n) == 0)
            return i;
        words += length + (words[length] == ' ' ? 1 : 0);
    }
    return -1;
}

static bool cli_frontend_set(nnrt_frontend_desc *d, const cli_frontend_member *m, const char *text)
{
    uint8_t *const at = (uint8_t *)d + m->offset;
    double number = 0;
    int32_t whole;
    bool flag;
    float f;
    if (m->words != NULL)
        number = (double)cli_frontend_word(text, m->words);
    else if (m->kind == 't')
        number = strcmp(text, "int8") == 0      ? NNRT_DATA_TYPE_INT8
                 : strcmp(text, "int16") == 0   ? NNRT_DATA_TYPE_INT16
                 : strcmp(text, "float32") == 0 ? NNRT_DATA_TYPE_FLOAT32
                                                : -1;
    else if (!cli_take_number(&text, &number) || *text != '\0')
        return false;
    if ((m->words != NULL || m->kind == 't') && number < 0)
        return false;
    if (m->kind == 'f') {
        if (number > 1e30 || number < -1e30)
            return false;
        f = (float)number;
        memcpy(at, &f, sizeof(f));
        return true;
    }
    if (number != floor(number) || number > INT32_MAX || number < INT32_MIN)
        return false;
    whole = (int32_t)number;
    flag = whole != 0;
    memcpy(at, m->kind == 'b' ? (const void *)&flag : (const void *)&whole,
           m->kind == 'b' ? sizeof(flag) : sizeof(whole));
    return true;
}

/* Parses a description; a member that is not named stays 0. */
static int cli_frontend_parse(nnrt_frontend_desc *d, const char *text)
{
    memset(d, 0, sizeof(*d));
    do {
        const size_t name = strcspn(text, "=,"), length = strcspn(text, ",");
        const cli_frontend_member *m = NULL;
        char value[32];
        for (size_t i = 0; i < CLI_FRONTEND_MEMBERS && m == NULL; i++)
            if (strlen(cli_frontend_members[i].name) == name && memcmp(cli_frontend_members[i].name, text, name) == 0)
                m = &cli_frontend_members[i];
        if (m == NULL || name == length)
            return cli_usage("emit-frontend: '%.*s' is no MEMBER=VALUE of a description; 'nnrt emit-frontend --help' "
                             "lists the members",
                             (int)length, text);
        snprintf(value, sizeof(value), "%.*s", (int)(length - name - 1), text + name + 1);
        if (length - name > sizeof(value) || !cli_frontend_set(d, m, value))
            return cli_usage("emit-frontend: %s does not take '%.*s'%s%s", m->name, (int)(length - name - 1),
                             text + name + 1, m->words != NULL ? "; it is one of: " : "",
                             m->words != NULL ? m->words : "");
        text += length;
    } while (*text++ == ',');
    return CLI_DONE;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>frontend_emit */

static void cli_frontend_table(cli_emit *e, const nnrt_frontend *f, const char *suffix, const void *data, int32_t count,
                               NNRT_DataType type)
{
    if (data != NULL)
        cli_emit_array(e, suffix, f->kernel == nnrt_frontend_row_f32 && type != NNRT_DATA_TYPE_UINT16
                                      ? NNRT_DATA_TYPE_FLOAT32
                                      : type,
                       data, (size_t)count);
}

static void cli_frontend_tables(cli_emit *e, const nnrt_frontend *f)
{
    const bool real = f->kernel == nnrt_frontend_row_f32;
    cli_frontend_table(e, f, "frontend_window", f->windowTable, f->mirror / 2 + 1, NNRT_DATA_TYPE_INT16);
    cli_frontend_table(e, f, "frontend_cosines", f->cosines, f->circle, NNRT_DATA_TYPE_INT16);
    cli_frontend_table(e, f, "frontend_edges", f->edges, f->values + 2, NNRT_DATA_TYPE_UINT16);
    if (f->weights != NULL)
        cli_emit_array(e, "frontend_weights", real ? NNRT_DATA_TYPE_FLOAT32 : NNRT_DATA_TYPE_UINT16, f->weights,
                       (size_t)f->bins);
    cli_frontend_table(e, f, "frontend_gains", f->gains, f->values, NNRT_DATA_TYPE_UINT32);
    cli_frontend_table(e, f, "frontend_dct", f->dctCosines, 4 * f->values, NNRT_DATA_TYPE_INT16);
}

/* The initializer of the struct nnrt_frontend. */
static void cli_frontend_struct(const cli_emit *e, const nnrt_frontend *f)
{
    const float real[7] = {f->real.unit,       f->real.offset,     f->real.floor,  f->real.log,
                           f->real.factors[0], f->real.factors[1], f->real.inverse};
    const void *const tables[6] = {f->windowTable, f->cosines, f->edges, f->weights, f->gains, f->dctCosines};
    static const char *const names[6] = {"window", "cosines", "edges", "weights", "gains", "dct"};
    char text[48];
    fprintf(e->out, "static const %s_DATA nnrt_frontend %s_frontend_data = {\n    %s, %s, %s,\n", e->upper, e->name,
            f->kernel == nnrt_frontend_row_f32 ? "nnrt_frontend_row_f32" : "nnrt_frontend_row_i16",
            f->odd == NULL ? "NULL" : f->odd == nnrt_frontend_odd_f32 ? "nnrt_frontend_odd_f32" : "nnrt_frontend_odd_i16",
            cli_emit_type_name(f->output));
    fprintf(e->out, "    %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %s, %s,\n", (int)f->window, (int)f->hop,
            (int)f->fft, (int)f->circle, (int)f->mirror, (int)f->first, (int)f->bins, (int)f->values, (int)f->features, (int)f->work,
            (int)f->dct, (int)f->log, (int)f->zeroPoint, f->removeMean ? "true" : "false",
            f->magnitude ? "true" : "false");
    fprintf(e->out, "    {0x%08lxu, 0x%08lxu, %ld, %ld, %ld, %ld, %ld, {%ld, %ld, %ld, %ld}},\n    {",
            (unsigned long)f->fixed.offset, (unsigned long)f->fixed.unit, (long)f->fixed.offsetExponent,
            (long)f->fixed.unitExponent, (long)f->fixed.gainExponent, (long)f->fixed.floor, (long)f->fixed.bias,
            (long)f->fixed.factors[0], (long)f->fixed.factors[1], (long)f->fixed.factors[2],
            (long)f->fixed.factors[3]);
    for (int i = 0; i < 7; i++) {
        cli_emit_element(text, sizeof(text), NNRT_DATA_TYPE_FLOAT32, &real[i]);
        fprintf(e->out, "%s%s%s", i == 4 ? "{" : "", text, i == 5 ? "}, " : i < 6 ? ", " : "},\n   ");
    }
    for (int i = 0; i < 6; i++) {
        if (tables[i] != NULL)
            fprintf(e->out, " %s_frontend_%s%s", e->name, names[i], i < 5 ? "," : "};\n\n");
        else
            fprintf(e->out, " NULL%s", i < 5 ? "," : "};\n\n");
    }
}

static void cli_frontend_all(cli_emit *e, const nnrt_frontend *f, const char *description, size_t tables)
{
    const size_t bytes = nnrt_frontend_stream_bytes(f);
    fprintf(e->out, "/* The front end %s as constant data for nnrt %s. Written by nnrt emit-frontend; not to be "
                    "edited.\n\n   ", e->name, nnrt_version());
    cli_emit_remark(e->out, description);
    fprintf(e->out,
            "\n\n   Include it after nnrt_frontend.h; data are compiled in the file that defines NNRT_IMPLEMENTATION.\n"
            "   features %d, %s\n   tables   %.0f bytes\n   stream   %.0f bytes of memory */\n",
            (int)f->features, cli_c_type(f->output), (double)tables, (double)bytes);
    fprintf(e->out,
            "#ifndef %s_FRONTEND_H\n#define %s_FRONTEND_H\n\n#ifndef NNRT_FRONTEND_H\n#error \"include nnrt_frontend.h "
            "before this file\"\n#endif\n\n#define %s_FRONTEND_FEATURES %d\n"
            "#define %s_FRONTEND_WORDS %.0f /* uint32_t of memory for nnrt_frontend_start */\n\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\nNNRT_API const nnrt_frontend *%s_frontend(void);\n"
            "#ifdef __cplusplus\n}\n#endif\n\n#endif /* %s_FRONTEND_H */\n\n",
            e->upper, e->upper, e->upper, (int)f->features, e->upper, (double)((bytes + 3) / 4), e->name, e->upper);
    fprintf(e->out,
            "#if defined(NNRT_IMPLEMENTATION) && !defined(%s_FRONTEND_IMPLEMENTED)\n#define %s_FRONTEND_IMPLEMENTED\n\n"
            "#ifndef %s_DATA /* placement of constants, such as __attribute__((section(\".rodata.nn\"))) */\n"
            "#define %s_DATA\n#endif\n",
            e->upper, e->upper, e->upper, e->upper);
    cli_frontend_tables(e, f);
    cli_frontend_struct(e, f);
    fprintf(e->out,
            "NNRT_API const nnrt_frontend *%s_frontend(void)\n{\n    return &%s_frontend_data;\n}\n\n"
            "#endif /* NNRT_IMPLEMENTATION */\n",
            e->name, e->name);
}

static int cli_emit_frontend(const cli_args *args)
{
    nnrt_frontend_desc desc;
    nnrt_frontend f;
    nnrt_error error;
    size_t bytes;
    void *memory = NULL;
    cli_args named = *args;
    cli_emit e;
    cli_out out;
    int status = cli_frontend_parse(&desc, args->model);
    memset(&e, 0, sizeof(e));
    memset(&error, 0, sizeof(error));
    if (status != CLI_DONE)
        return status;
    named.name = args->name != NULL ? args->name : "signal";
    if (!cli_emit_name(&e, &named))
        return CLI_USAGE;
    if (nnrt_frontend_size(&desc, &bytes, NULL, &error) != NNRT_SUCCESS)
        return cli_usage("emit-frontend: %s", error.message);
    if ((memory = cli_alloc(bytes, 1)) == NULL)
        return CLI_FAILED;
    if (nnrt_frontend_init(&f, &desc, memory, bytes, &error) != NNRT_SUCCESS)
        status = cli_fail("emit-frontend: %s", error.message);
    if (status == CLI_DONE)
        status = cli_out_open(&out, args->output, true);
    if (status == CLI_DONE) {
        e.out = out.f;
        e.progress.label = "emit-frontend";
        cli_frontend_all(&e, &f, args->model, bytes);
        cli_progress_end(&e.progress);
        status = cli_out_close(&out, true);
    }
    if (status == CLI_DONE && strcmp(args->output, "-") != 0) {
        cli_put_name(stdout, args->output);
        printf("  %s_frontend, %d features, tables %.0f bytes, stream %.0f bytes\n", e.name, (int)f.features,
               (double)bytes, (double)nnrt_frontend_stream_bytes(&f));
    }
    free(memory);
    return status;
}

#endif /* NNRT_TOOL_FRONTEND_H */
