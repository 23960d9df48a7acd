/*
emit_wasm.h - nnrt emit-wasm: writes a model as a WebAssembly module that imports nothing. Part of tools/nnrt.c.

The module is the C of nnrt emit-c and four functions, compiled by clang and linked twice: the first module states how many
pages of memory it needs, the second one has that memory and cannot grow.

    >>compile   clang and wasm-ld
    >>command   nnrt emit-wasm
*/
#ifndef NNRT_TOOL_EMIT_WASM_H
#define NNRT_TOOL_EMIT_WASM_H

#include "../common/headers.h"
#include "emit.h"

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>compile */

/* Appends a word for a shell: in '', in which only ' has a meaning. */
static char *cli_wasm_quote(char *to, const char *word)
{
    *to++ = '\'';
    for (; *word != '\0'; word++)
        if (*word == '\'') {
            memcpy(to, "'\\''", 4);
            to += 4;
        } else
            *to++ = *word;
    *to++ = '\'';
    *to++ = ' ';
    *to = '\0';
    return to;
}

/* Runs a program. words: its name and arguments, then NULL. */
static bool cli_wasm_execute(const char *const *words)
{
    size_t bytes = 1;
    char *command, *end;
    bool good;
    for (size_t i = 0; words[i] != NULL; i++)
        bytes += 4 * strlen(words[i]) + 3;
    command = end = (char *)cli_alloc(bytes, 1);
    for (size_t i = 0; command != NULL && words[i] != NULL; i++)
        end = cli_wasm_quote(end, words[i]);
    good = command != NULL && system(command) == 0;
    if (command != NULL && !good)
        cli_fail("cannot compile for WebAssembly: this needs clang with the target wasm32, wasm-ld and the C library of WASI "
                 "(Debian: clang lld wasi-libc); the command was: %s",
                 command);
    free(command);
    return good;
}

static uint32_t cli_wasm_number(FILE *f)
{
    uint32_t value = 0;
    int c = 128;
    for (uint32_t shift = 0; shift < 32 && c >= 128 && (c = getc(f)) != EOF; shift += 7)
        value |= (uint32_t)(c & 127) << shift;
    return value;
}

/* The pages of 64 KiB that the module's memory has at first; 0: the file is no module with a memory. */
static uint32_t cli_wasm_pages(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint32_t pages = 0;
    int section = EOF;
    if (f == NULL)
        return 0;
    if (fseek(f, 8, SEEK_SET) == 0)
        section = getc(f);
    while (section != EOF && section != 5) {
        const uint32_t bytes = cli_wasm_number(f);
        section = fseek(f, (long)bytes, SEEK_CUR) == 0 ? getc(f) : EOF;
    }
    if (section == 5 && cli_wasm_number(f) > 0 && cli_wasm_number(f) == 1) {
        (void)getc(f); /* limits without a maximum */
        pages = cli_wasm_number(f);
    }
    fclose(f);
    return pages;
}

/* Links the object. initial, most: options of the memory's size; NULL: as much as it needs. */
static bool cli_wasm_link(const char *object, const char *module, const char *initial, const char *most)
{
    const char *const words[] = {
        "clang",  "--target=wasm32-wasi", "-nostartfiles", "-nodefaultlibs", "-Wl,--no-entry,--gc-sections,--strip-all",
        "-Wl,--stack-first,-z,stack-size=16384", object, "-lc", "-o", module, initial, most, NULL};
    return cli_wasm_execute(words);
}

/* Compiles the C file of the model, and links it. Returns the pages of memory; 0: it failed, which is reported. */
static uint32_t cli_wasm_build(const char *source, const char *object, const char *module, const char *include)
{
    const char *const words[] = {
        "clang", "--target=wasm32-wasi", "-std=c99", "-O2", "-w", "-msimd128", "-mbulk-memory", "-mnontrapping-fptoint",
        "-msign-ext", "-ffunction-sections", "-fdata-sections", "-I", include, "-c", "-o", object, source, NULL};
    char initial[40], most[40];
    uint32_t pages;
    if (!cli_wasm_execute(words) || !cli_wasm_link(object, module, NULL, NULL))
        return 0;
    pages = cli_wasm_pages(module);
    snprintf(initial, sizeof(initial), "-Wl,--initial-memory=%.0f", (double)pages * 65536);
    snprintf(most, sizeof(most), "-Wl,--max-memory=%.0f", (double)pages * 65536);
    if (pages == 0)
        (void)cli_fail("cannot read the memory of the linked module %s", module);
    return pages > 0 && cli_wasm_link(object, module, initial, most) ? pages : 0;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>command */

/* The text with an ending; the caller frees it. */
static char *cli_wasm_path(const char *path, const char *ending)
{
    const size_t n = strlen(path);
    char *text = (char *)cli_alloc(n + strlen(ending) + 1, 1);
    if (text != NULL) {
        memcpy(text, path, n);
        strcpy(text + n, ending);
    }
    return text;
}

/* The folder of nnrt's headers; the caller frees it. NULL: not found, which is reported. */
static char *cli_wasm_include(const cli_args *args)
{
    char *header = args->header != NULL ? cli_wasm_path(args->header, "") : cli_header_path(args->program);
    char *slash = header != NULL ? strrchr(header, '/') : NULL;
    if (slash != NULL)
        slash[0] = '\0';
    else if (header != NULL)
        strcpy(header, ".");
    return header;
}

static void cli_wasm_print(const char *path, uint32_t pages)
{
    struct stat s;
    const double bytes = stat(path, &s) == 0 ? (double)s.st_size : 0;
    cli_put_name(stdout, path);
    printf("  %.0f bytes, memory %.0f bytes; run, input, output, input_bytes, output_bytes\n", bytes, (double)pages * 65536);
}

/* nnrt emit-wasm. The C file, the object and the module are in the folder of args->output until the module is
   complete. */
static int cli_emit_wasm(const cli_args *args)
{
    cli_args own = *args;
    char *source = cli_wasm_path(args->output, ".tmp.c"), *object = cli_wasm_path(args->output, ".tmp.o");
    char *module = cli_wasm_path(args->output, ".tmp"), *include = cli_wasm_include(args);
    int status = source != NULL && object != NULL && module != NULL && include != NULL ? CLI_DONE : CLI_FAILED;
    uint32_t pages = 0;
    own.output = source;
    own.name = "model";
    own.wasm = true;
    if (status == CLI_DONE)
        status = cli_emit_c(&own);
    if (status == CLI_DONE && (pages = cli_wasm_build(source, object, module, include)) == 0)
        status = CLI_FAILED;
    if (status == CLI_DONE && !cli_rename(module, args->output))
        status = cli_fail("cannot write %s: %s", args->output, strerror(errno));
    if (status == CLI_DONE)
        cli_wasm_print(args->output, pages);
    for (size_t i = 0; source != NULL && object != NULL && module != NULL && i < 3; i++)
        (void)remove(i == 0 ? source : i == 1 ? object : module);
    free(source);
    free(object);
    free(module);
    free(include);
    return status;
}

#endif /* NNRT_TOOL_EMIT_WASM_H */
