/*
args.h - the arguments of the command line: commands, options and their help, described once in tables.
Part of tools/nnrt.c.

    >>values   parsing the values of options
    >>options  the table of options, help, parsing arguments
*/
#ifndef NNRT_TOOL_ARGS_H
#define NNRT_TOOL_ARGS_H

#include "../../compat/nnrt_nnadapter_driver.h"
#include "../../devices/nnrt_cpu.h"
#include "../../devices/nnrt_driver.h"
#include "../../devices/nnrt_fake.h"
#include "../../devices/nnrt_mcu.h"
#include "../../devices/nnrt_remote.h"
#include "language.h"
#include "values.h"

/* Bits of commands, for the option table. */
enum {
    CLI_INFO = 1,
    CLI_RUN = 2,
    CLI_BENCH = 4,
    CLI_CHECK = 8,
    CLI_DOT = 16,
    CLI_OPS = 32,
    CLI_DEVICES = 64,
    CLI_CONVERT = 128,
    CLI_EMIT = 256,
    CLI_COMPARE = 512,
    CLI_REPORT = 1024,
    CLI_COMPILE = 2048,
    CLI_SERVE = 4096,
    CLI_FRONTEND = 8192,
    CLI_QUANTIZE = 16384,
    CLI_ACCURACY = 32768,
    CLI_WASM = 65536,
    CLI_BATCH = 131072,
    CLI_GENERATE = 262144,
    CLI_TOKENIZE = 524288,
    CLI_EMBED = 1048576,
    CLI_ALL = 2097151
};

#define CLI_MOST_USERS 32
#define CLI_MOST_INPUTS 64 /* --input, --expected, --shape, --max, --outputs, --labels, --meta and --extension may each occur
                              this often */

typedef struct cli_args {
    const char *model, *output; /* output: the second operand */
    const char *inputs[CLI_MOST_INPUTS], *shapes[CLI_MOST_INPUTS], *most[CLI_MOST_INPUTS], *dims[CLI_MOST_INPUTS], *fixes[CLI_MOST_INPUTS];
    const char *metadata[CLI_MOST_INPUTS], *labels[CLI_MOST_INPUTS], *cuts[CLI_MOST_INPUTS], *expected[CLI_MOST_INPUTS];
    const char *regions[CLI_MOST_INPUTS], *sections[CLI_MOST_INPUTS], *states[CLI_MOST_INPUTS];
    uint32_t inputCount, shapeCount, mostCount, dimCount, fixCount, metadataCount, labelsCount, cutCount, expectedCount;
    uint32_t regionCount, sectionCount, stateCount;
    const char *outputDir, *dumpDir, *device, *data, *heldOut, *name, *copy, *header, *activations, *properties, *cache, *signature;
    const char *devices[2];      /* the first of deviceCount; device is the last */
    uint32_t deviceCount;
    char autos[3][512];          /* texts of auto: for the first two devices and the last one */
    const char *trace;           /* file of --profile=FILE; NULL: none */
    const char *program;         /* argv[0] */
    char **argv;                 /* the arguments behind it, argc texts */
    int argc;
    bool wasm;                   /* of nnrt emit-wasm */
    NNRT_DataType type; /* of --type; 0: not given */
    uint32_t top, threads, reps, smallest; /* 0: not given */
    const char *socket;          /* for serve, like the following members */
    nnrt_remote_limits limits;
    uint32_t permissions, users[CLI_MOST_USERS], userCount;
    double rtol, atol; /* negative: not given, cli_tolerance_of chooses */
    nnrt_log log; /* of --log; all zero: none */
    bool float16;
    NNRT_PerformanceMode mode;
    NNRT_Priority priority;
    NNRT_Extension extensions[CLI_MOST_INPUTS];
    char extensionNames[CLI_MOST_INPUTS][64];
    uint32_t extensionCount;
    cli_image_options image;
    const char *shard;               /* for batch, like the following members; NULL: all */
    uint32_t chunk, batch, jobs;     /* 0: not given */
    bool merge, skipBad;
    char given[1024]; /* the options that may change results, with their values, as one text */
    bool json, tsv, onnx, tflite, example, all, show;
    bool memory, profile, golden, help, noOptimize, noQuantize, int8Io, placement, strict, fallback, records;
    bool small, ranges, uint8, int16, sensitivity, leastSquares, fullInteger;
    const char *ids;       /* of --ids; NULL: not given */
    uint32_t tokens;       /* of --tokens; 0: not given */
    const char *tokenizer, *prompt, *promptFile, *system, *chatTemplate, *decode; /* texts of generate, tokenize and embed */
    const char *texts[CLI_MOST_INPUTS]; /* of --text */
    uint32_t textCount, topK, seed;
    double temperature, topP, minP, repeatPenalty, presencePenalty; /* 0: not given */
    int pooling;                        /* LM_POOLING_... */
    bool chat, raw, quiet, seeded, pieces, plain, bare, noNormalize;
    bool allLogits;        /* of --all-logits */
    bool floatActivations; /* of --float-activations */
    bool operands;         /* convert: the kernels of microcontrollers read entries and scales, no blocks of a GGUF file */
    uint32_t context, capacity; /* of --context; tokens of the cache of a file of weights, unless that is given. 0: not given */
    NNRT_DataType cacheType;    /* of --cache-type; 0: not given */
    uint32_t cachePage;         /* of --cache-page; 0: not given */
    const char *saveCache, *loadCache; /* files of --save-cache and --load-cache; NULL: none */
    bool shift, noTokens;       /* --context-shift; --tokens 0 */
    uint32_t keepTokens;        /* of --keep-tokens; 0: not given */
    double maxLoss; /* of --max-loss; 0: not given */
    uint32_t samples, withoutSteps; /* of --samples (0: all) and --without */
    const char *report, *classes; /* files of --report and --classes; NULL: none */
    uint32_t weightBits, weightBlock; /* of --weights-only (0: not given) and --block */
    int processor;                    /* of --processor: a place in its list */
    bool dynamicCodes;                /* --dynamic */
    uint32_t arenaBytes; /* of --arena; 0: not given */
    const char *keep; /* file of --keep; NULL: none */
    nnrt_error error; /* reason for an invalid value, if a library function reports one */
} cli_args;

typedef struct cli_command {
    const char *name, *operands, *what, *text, *example;
    unsigned bit;
    int (*run)(const cli_args *args);
} cli_command;

/* One option: name, placeholder of its value (NULL: no value; "[=FILE]": optional, after =), the commands that accept
   it, help, and the parser of the value, which returns false for an invalid one. */
typedef struct cli_option {
    const char *name, *value;
    unsigned commands;
    const char *help;
    bool (*take)(cli_args *args, const char *value);
} cli_option;

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>values */

/* An option that sets a member: to a constant, or to its text, which must not be empty. */
#define CLI_TAKE_SET(name, member, value, good)                                                                        \
    static bool name(cli_args *a, const char *v)                                                                       \
    {                                                                                                                  \
        (void)v;                                                                                                       \
        a->member = value;                                                                                             \
        return good;                                                                                                   \
    }
#define CLI_TAKE_TEXT(name, member) CLI_TAKE_SET(name, member, v, *v != '\0')
/* A number from least to most. */
#define CLI_TAKE_WHOLE(name, member, least, most)                                                                      \
    static bool name(cli_args *a, const char *v)                                                                       \
    {                                                                                                                  \
        return cli_take_whole(v, least, most, &a->member);                                                             \
    }
/* An option that may be repeated: appends its text, if it is good, to a list of CLI_MOST_INPUTS. */
#define CLI_TAKE_LIST(name, list, number, good)                                                                        \
    static bool name(cli_args *a, const char *v)                                                                       \
    {                                                                                                                  \
        if (a->number == CLI_MOST_INPUTS || !(good))                                                                   \
            return false;                                                                                              \
        a->list[a->number++] = v;                                                                                      \
        return true;                                                                                                   \
    }

CLI_TAKE_SET(cli_take_json, json, true, true)
CLI_TAKE_SET(cli_take_all_logits, allLogits, true, true)
CLI_TAKE_SET(cli_take_float_activations, floatActivations, true, true)
CLI_TAKE_SET(cli_take_tsv, tsv, true, true)
CLI_TAKE_SET(cli_take_onnx, onnx, true, true)
CLI_TAKE_SET(cli_take_tflite, tflite, true, true)
CLI_TAKE_SET(cli_take_example, example, true, true)
CLI_TAKE_SET(cli_take_all, all, true, true)
CLI_TAKE_SET(cli_take_memory, memory, true, true)
CLI_TAKE_SET(cli_take_placement, placement, true, true)
CLI_TAKE_SET(cli_take_strict, strict, true, true)
CLI_TAKE_SET(cli_take_fallback, fallback, true, true)
CLI_TAKE_SET(cli_take_records, records, true, true)
CLI_TAKE_SET(cli_take_help, help, true, true)
CLI_TAKE_SET(cli_take_rgb, image.colour, CLI_COLOR_RGB, true)
CLI_TAKE_SET(cli_take_bgr, image.colour, CLI_COLOR_BGR, true)
CLI_TAKE_SET(cli_take_gray, image.colour, CLI_COLOR_GRAY, true)
CLI_TAKE_SET(cli_take_invert, image.invert, CLI_INVERT_YES, true)
CLI_TAKE_SET(cli_take_no_invert, image.invert, CLI_INVERT_NO, true)
CLI_TAKE_SET(cli_take_no_optimize, noOptimize, true, true)
CLI_TAKE_SET(cli_take_no_quantize, noQuantize, true, true)
CLI_TAKE_SET(cli_take_int8_io, int8Io, true, true)
CLI_TAKE_SET(cli_take_exact, device, "reference", true)
CLI_TAKE_SET(cli_take_float16, float16, true, true)
CLI_TAKE_SET(cli_take_ranges, ranges, true, true)
CLI_TAKE_SET(cli_take_uint8, uint8, true, true)
CLI_TAKE_SET(cli_take_16x8, int16, true, true)
CLI_TAKE_SET(cli_take_sensitivity, sensitivity, true, true)
CLI_TAKE_SET(cli_take_full_integer, fullInteger, true, true)
CLI_TAKE_SET(cli_take_least_squares, leastSquares, true, true)
CLI_TAKE_TEXT(cli_take_keep, keep)
CLI_TAKE_SET(cli_take_ids, ids, v, true)
CLI_TAKE_TEXT(cli_take_tokenizer, tokenizer)
CLI_TAKE_TEXT(cli_take_prompt_file, promptFile)
CLI_TAKE_TEXT(cli_take_template, chatTemplate)
CLI_TAKE_TEXT(cli_take_save_cache, saveCache)
CLI_TAKE_TEXT(cli_take_load_cache, loadCache)
CLI_TAKE_TEXT(cli_take_decode, decode)
CLI_TAKE_SET(cli_take_prompt, prompt, v, true)
CLI_TAKE_SET(cli_take_system, system, v, true)
CLI_TAKE_SET(cli_take_chat, chat, true, true)
CLI_TAKE_SET(cli_take_raw, raw, true, true)
CLI_TAKE_SET(cli_take_shift, shift, true, true)
CLI_TAKE_SET(cli_take_quiet, quiet, true, true)
CLI_TAKE_SET(cli_take_pieces, pieces, true, true)
CLI_TAKE_SET(cli_take_plain, plain, true, true)
CLI_TAKE_SET(cli_take_bare, bare, true, true)
CLI_TAKE_SET(cli_take_normalize, noNormalize, false, true)
CLI_TAKE_SET(cli_take_no_normalize, noNormalize, true, true)
CLI_TAKE_TEXT(cli_take_report, report)
CLI_TAKE_TEXT(cli_take_classes, classes)
CLI_TAKE_TEXT(cli_take_output_dir, outputDir)
CLI_TAKE_TEXT(cli_take_dump, dumpDir)
CLI_TAKE_TEXT(cli_take_data, data)
CLI_TAKE_TEXT(cli_take_held_out, heldOut)
CLI_TAKE_TEXT(cli_take_output, output)
CLI_TAKE_TEXT(cli_take_name, name)
CLI_TAKE_TEXT(cli_take_copy, copy)

static bool cli_take_show(cli_args *a, const char *v)
{
    a->show = true;
    return cli_take_copy(a, v);
}

CLI_TAKE_TEXT(cli_take_header, header)
CLI_TAKE_TEXT(cli_take_activations, activations)
CLI_TAKE_TEXT(cli_take_signature, signature)
CLI_TAKE_TEXT(cli_take_shard, shard)
CLI_TAKE_SET(cli_take_merge, merge, true, true)
CLI_TAKE_SET(cli_take_skip_bad, skipBad, true, true)

static bool cli_take_type(cli_args *a, const char *v)
{
    for (a->type = NNRT_DATA_TYPE_BOOL; a->type <= NNRT_DATA_TYPE_FLOAT64; a->type++)
        if (nnrt_type_size(a->type) > 0 && strcmp(nnrt_type_name(a->type), v) == 0)
            return true;
    return false;
}
CLI_TAKE_TEXT(cli_take_cache, cache)
CLI_TAKE_TEXT(cli_take_socket, socket)
CLI_TAKE_LIST(cli_take_input, inputs, inputCount, true)
CLI_TAKE_LIST(cli_take_expected, expected, expectedCount, true)
CLI_TAKE_LIST(cli_take_shape, shapes, shapeCount, true)
CLI_TAKE_LIST(cli_take_most, most, mostCount, true)
CLI_TAKE_LIST(cli_take_dim, dims, dimCount, true)
CLI_TAKE_LIST(cli_take_fix, fixes, fixCount, strchr(v, '=') != NULL)
CLI_TAKE_LIST(cli_take_cut, cuts, cutCount, *v != '\0')
CLI_TAKE_LIST(cli_take_metadata, metadata, metadataCount, *v != '=' && strchr(v, '=') != NULL) /* "KEY=VALUE" with a key */
CLI_TAKE_LIST(cli_take_region, regions, regionCount, true)
CLI_TAKE_LIST(cli_take_section, sections, sectionCount, true)
CLI_TAKE_LIST(cli_take_state, states, stateCount, true)
CLI_TAKE_LIST(cli_take_labels, labels, labelsCount, *v != '\0')
CLI_TAKE_LIST(cli_take_text, texts, textCount, true)

CLI_TAKE_WHOLE(cli_take_smallest, smallest, 1, 100000000)

static bool cli_take_profile(cli_args *a, const char *v)
{
    a->trace = v;
    a->profile = true;
    return v == NULL || *v != '\0';
}

static bool cli_take_golden(cli_args *a, const char *v)
{
    a->golden = true;
    return cli_take_input(a, v);
}

CLI_TAKE_WHOLE(cli_take_arena, arenaBytes, 1, 1u << 30)

static bool cli_take_small(cli_args *a, const char *v)
{
    (void)v;
    a->small = true;
    return true;
}

/* How a fake device with die= terminates the program: no destructors, nothing flushed, like a crash. */
static void cli_die(void)
{
    _Exit(CLI_FAILED);
}

/* The name of a device. fake:..., remote:..., mcu:TARGET, cpu and cpu-ISA register that device until the program ends. NULL: the
   registration failed. */
static const char *cli_device_name(cli_args *a, const char *v)
{
    nnrt_fake *fake;
    nnrt_remote *remote;
    if (strncmp(v, "remote:", 7) == 0)
        return nnrt_remote_register(&remote, v, &a->error) == NNRT_SUCCESS ? nnrt_remote_name(remote) : NULL;
    if (strncmp(v, "fake:", 5) == 0) {
        nnrt_fake_may_die(cli_die);
        return nnrt_fake_register(&fake, v, &a->error) == NNRT_SUCCESS ? nnrt_fake_name(fake) : NULL;
    }
    if (strncmp(v, "mcu:", 4) == 0 && nnrt_device_find(v) == NULL &&
        nnrt_mcu_register(v + 4, &a->error) != NNRT_SUCCESS)
        return NULL;
    if (strncmp(v, "cpu", 3) == 0 && (v[3] == '\0' || v[3] == '-') && nnrt_device_find(v) == NULL &&
        nnrt_cpu_register(v[3] == '-' ? v + 4 : NULL, &a->error) != NNRT_SUCCESS)
        return NULL;
    return v;
}

/* Length of the first device in a list. Options of remote: (name=, time=) and fake: (KEY=VALUE) are separated by ',',
   too, and belong to their device. */
static size_t cli_device_length(const char *v)
{
    const bool fake = strncmp(v, "fake:", 5) == 0, remote = strncmp(v, "remote:", 7) == 0;
    const char *at = v + (fake ? 5 : remote ? 7 : 0);
    while (remote && (strncmp(at, "name=", 5) == 0 || strncmp(at, "time=", 5) == 0) && at[strcspn(at, ",")] == ',')
        at += strcspn(at, ",") + 1;
    at += strcspn(at, ",");
    while (fake && *at == ',' && at[1 + strcspn(at + 1, "=,:")] == '=')
        at += 1 + strcspn(at + 1, ",");
    return (size_t)(at - v);
}

/* "auto:DEVICE,DEVICE,..." with the names of these devices, which are registered. NULL: a registration failed. */
static const char *cli_auto_text(cli_args *a, const char *v)
{
    char *const text = a->autos[a->deviceCount < 2 ? a->deviceCount : 2];
    size_t used = 5;
    memcpy(text, "auto:", 6);
    for (v += 5;; v++) {
        const size_t length = cli_device_length(v);
        char one[sizeof(a->autos[0])];
        const char *name;
        if (length >= sizeof(one))
            return NULL;
        memcpy(one, v, length);
        one[length] = '\0';
        if ((name = cli_device_name(a, one)) == NULL || strlen(name) + 2 > sizeof(a->autos[0]) - used)
            return NULL;
        memcpy(text + used, name, strlen(name) + 1);
        used += strlen(name);
        v += length;
        if (*v != ',')
            return text;
        text[used++] = ',';
    }
}

static bool cli_take_device(cli_args *a, const char *v)
{
    const bool list = strncmp(v, "auto:", 5) == 0;
    a->device = list ? cli_auto_text(a, v) : cli_device_name(a, v);
    if (a->device == NULL)
        return false;
    if (a->deviceCount < 2)
        a->devices[a->deviceCount] = a->device;
    a->deviceCount++;
    return list || nnrt_device_find(a->device) != NULL;
}

/* Three or four octal digits. */
static bool cli_take_mode(cli_args *a, const char *v)
{
    a->permissions = (uint32_t)strtoul(v, NULL, 8);
    return strspn(v, "01234567") == strlen(v) && strlen(v) >= 3 && strlen(v) <= 4 && a->permissions > 0 &&
           a->permissions <= 0777;
}

static bool cli_take_users(cli_args *a, const char *v)
{
    do {
        char number[16];
        const size_t length = strcspn(v, ",");
        if (length >= sizeof(number) || a->userCount == CLI_MOST_USERS)
            return false;
        memcpy(number, v, length);
        number[length] = '\0';
        if (!cli_take_whole(number, 0, UINT32_MAX - 1, &a->users[a->userCount++]))
            return false;
        v += length;
    } while (*v++ == ',');
    return true;
}

/* "clients=4,bytes=1000000": limits that are not listed stay unchanged. */
static bool cli_take_limits(cli_args *a, const char *v)
{
    do {
        static const char *const names[] = {"clients", "models", "buffers", "message", "time", "bytes"};
        uint32_t *const places[] = {&a->limits.clients, &a->limits.models, &a->limits.buffers,
                                    &a->limits.message, &a->limits.time,   NULL};
        const size_t name = strcspn(v, "=,"), length = strcspn(v, ",");
        char number[24];
        uint32_t value = 0, k = 0;
        while (k < 6 && (strlen(names[k]) != name || strncmp(names[k], v, name) != 0))
            k++;
        if (k == 6 || name == length || length - name > sizeof(number))
            return false;
        memcpy(number, v + name + 1, length - name - 1);
        number[length - name - 1] = '\0';
        if (places[k] != NULL && !cli_take_whole(number, 1, INT32_MAX, &value))
            return false;
        if (places[k] != NULL)
            *places[k] = value;
        else if (strspn(number, "0123456789") != strlen(number) || strlen(number) > 18 ||
                 (a->limits.bytes = strtoull(number, NULL, 10)) == 0)
            return false;
        v += length;
    } while (*v++ == ',');
    return true;
}

static bool cli_take_properties(cli_args *a, const char *v)
{
    a->properties = v;
    return strchr(v, '=') != NULL;
}

/* A driver with a device table, or one for NNAdapter's hardware layer. */
static bool cli_take_load(cli_args *a, const char *v)
{
    NNRT_ReturnCode code = nnrt_driver_load(v, &a->error);
    if (code == NNRT_NOT_SUPPORT) {
        memset(&a->error, 0, sizeof(a->error));
        code = nnrt_nnadapter_driver_load(v, a->properties, &a->error);
    }
    return code == NNRT_SUCCESS;
}

static void cli_log_line(void *user, nnrt_log_level level, const char *text)
{
    static const char *const kinds[] = {"warning", "info", "debug"};
    FILE *out = CLI_MESSAGES;
    (void)user;
    fprintf(out, "nnrt: %s: ", kinds[level]);
    cli_put_name(out, text);
    fputs("\n", out);
}

static bool cli_take_log(cli_args *a, const char *v)
{
    a->log.line = cli_log_line;
    a->log.most = strcmp(v, "debug") == 0 ? NNRT_LOG_DEBUG : strcmp(v, "info") == 0 ? NNRT_LOG_INFO : NNRT_LOG_WARNING;
    return a->log.most != NNRT_LOG_WARNING || strcmp(v, "warning") == 0;
}

/* Index of v in a NULL-terminated list of words; -1 if it is not in the list. */
static int32_t cli_word(const char *v, const char *const *words)
{
    for (int32_t i = 0; words[i] != NULL; i++)
        if (strcmp(v, words[i]) == 0)
            return i;
    return -1;
}

static bool cli_take_performance(cli_args *a, const char *v)
{
    static const char *const words[] = {"none", "low", "medium", "high", "extreme", NULL};
    return (a->mode = cli_word(v, words)) >= 0; /* NNRT_PERFORMANCE_NONE to _EXTREME */
}

/* The processor for which `quantize` predicts times: that of this machine, or by name. */
static bool cli_take_processor(cli_args *a, const char *v)
{
    static const char *const words[] = {"auto", "vnni", "avx2", NULL};
    return (a->processor = cli_word(v, words)) >= 0;
}

CLI_TAKE_WHOLE(cli_take_samples, samples, 1, 100000000)

static bool cli_take_weights_only(cli_args *a, const char *v)
{
    return cli_take_whole(v, 4, 8, &a->weightBits) && (a->weightBits == 4 || a->weightBits == 8);
}

static bool cli_take_dynamic(cli_args *a, const char *v)
{
    (void)v;
    return a->dynamicCodes = true;
}

static bool cli_take_block(cli_args *a, const char *v)
{
    return cli_take_whole(v, 16, 65536, &a->weightBlock) && (a->weightBlock & (a->weightBlock - 1)) == 0;
}

static bool cli_take_max_loss(cli_args *a, const char *v)
{
    return cli_take_positive(v, &a->maxLoss) && a->maxLoss > 0;
}

/* The steps of nnrt_quantize, in the order of their bits. */
static const char *const cli_quantize_steps[] = {"equalize", "ranges", "bias", "channels", NULL};

/* "equalize,bias" */
static bool cli_take_without(cli_args *a, const char *v)
{
    do {
        char word[16];
        const size_t length = strcspn(v, ",");
        int32_t step;
        if (length >= sizeof(word))
            return false;
        memcpy(word, v, length);
        word[length] = '\0';
        if ((step = cli_word(word, cli_quantize_steps)) < 0)
            return false;
        a->withoutSteps |= 1u << step;
        v += length;
    } while (*v++ == ',');
    return true;
}

static bool cli_take_priority(cli_args *a, const char *v)
{
    static const char *const words[] = {"none", "low", "medium", "high", NULL};
    return (a->priority = cli_word(v, words)) >= 0; /* NNRT_PRIORITY_NONE to _HIGH */
}

/* "NAME=VALUE" with a name of at most 63 characters. */
static bool cli_take_extension(cli_args *a, const char *v)
{
    const size_t length = strcspn(v, "=");
    NNRT_Extension *e = &a->extensions[a->extensionCount];
    if (a->extensionCount == CLI_MOST_INPUTS || v[length] == '\0' || length == 0 ||
        length >= sizeof(a->extensionNames[0]))
        return false;
    memcpy(a->extensionNames[a->extensionCount], v, length); /* zeroed, so it is terminated */
    e->name = a->extensionNames[a->extensionCount++];
    e->data = v + length + 1;
    e->size = (uint32_t)strlen(v + length + 1);
    return true;
}

CLI_TAKE_WHOLE(cli_take_budget, image.budget, 1, 1000000)
CLI_TAKE_WHOLE(cli_take_threads, threads, 1, 1024)

static bool cli_take_tokens(cli_args *a, const char *v)
{
    const bool good = cli_take_whole(v, 0, 1000000, &a->tokens);
    a->noTokens = good && a->tokens == 0;
    return good;
}

CLI_TAKE_WHOLE(cli_take_context, context, 1, NNRT_GGUF_CACHE)
CLI_TAKE_WHOLE(cli_take_cache_page, cachePage, 1, NNRT_GGUF_CACHE)
CLI_TAKE_WHOLE(cli_take_keep_tokens, keepTokens, 1, NNRT_GGUF_CACHE)

static bool cli_take_cache_type(cli_args *a, const char *v)
{
    a->cacheType = strcmp(v, "f16") == 0    ? NNRT_DATA_TYPE_FLOAT16
                   : strcmp(v, "q8_0") == 0 ? NNRT_DATA_TYPE_INT8
                                            : NNRT_DATA_TYPE_FLOAT32;
    return a->cacheType != NNRT_DATA_TYPE_FLOAT32 || strcmp(v, "f32") == 0;
}

static bool cli_take_seed(cli_args *a, const char *v)
{
    a->seeded = true;
    return cli_take_whole(v, 0, UINT32_MAX, &a->seed);
}

CLI_TAKE_WHOLE(cli_take_top_k, topK, 1, 100000000)

/* A positive number up to `most`. */
static bool cli_take_part(const char *v, double most, double *out)
{
    return cli_take_positive(v, out) && *out > 0 && *out <= most;
}

static bool cli_take_temperature(cli_args *a, const char *v)
{
    return cli_take_positive(v, &a->temperature) && a->temperature <= 1000;
}

static bool cli_take_top_p(cli_args *a, const char *v)
{
    return cli_take_part(v, 1, &a->topP);
}

static bool cli_take_min_p(cli_args *a, const char *v)
{
    return cli_take_part(v, 1, &a->minP);
}

static bool cli_take_repeat_penalty(cli_args *a, const char *v)
{
    return cli_take_part(v, 1000, &a->repeatPenalty);
}

static bool cli_take_presence_penalty(cli_args *a, const char *v)
{
    return cli_take_part(v, 1000, &a->presencePenalty);
}

static bool cli_take_pooling(cli_args *a, const char *v)
{
    static const char *const words[] = {"mean", "first", "last", NULL};
    return (a->pooling = cli_word(v, words) + LM_POOLING_MEAN) > LM_POOLING_MODEL;
}

CLI_TAKE_WHOLE(cli_take_chunk, chunk, 1, 100000000)
CLI_TAKE_WHOLE(cli_take_batch, batch, 1, 1000000)
CLI_TAKE_WHOLE(cli_take_jobs, jobs, 1, 1024)
CLI_TAKE_WHOLE(cli_take_reps, reps, 1, 100000000)
CLI_TAKE_WHOLE(cli_take_top, top, 1, 1000)

static bool cli_take_rtol(cli_args *a, const char *v)
{
    return cli_take_positive(v, &a->rtol);
}

static bool cli_take_atol(cli_args *a, const char *v)
{
    return cli_take_positive(v, &a->atol);
}

static bool cli_take_mean(cli_args *a, const char *v)
{
    return cli_take_numbers(v, a->image.mean, &a->image.means);
}

static bool cli_take_scale(cli_args *a, const char *v)
{
    return cli_take_numbers(v, a->image.scale, &a->image.scales);
}

static bool cli_take_std(cli_args *a, const char *v)
{
    return cli_take_divisors(v, a->image.scale, &a->image.scales);
}

static bool cli_take_layout(cli_args *a, const char *v)
{
    return (a->image.layout = cli_layout(v)) != CLI_LAYOUT_AUTO;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* >>options */

#define CLI_SESSIONS (CLI_INFO | CLI_RUN | CLI_BENCH | CLI_CHECK | CLI_COMPARE | CLI_REPORT | CLI_COMPILE | CLI_ACCURACY | CLI_BATCH)
#define CLI_PLACED (CLI_SESSIONS | CLI_DOT | CLI_GENERATE | CLI_EMBED)
#define CLI_THREADS ((CLI_SESSIONS & ~CLI_COMPILE) | CLI_QUANTIZE | CLI_GENERATE | CLI_EMBED)
#define CLI_TEXTS (CLI_GENERATE | CLI_TOKENIZE | CLI_EMBED)
#define CLI_SHAPED (CLI_SESSIONS | CLI_DOT | CLI_CONVERT | CLI_EMIT | CLI_WASM | CLI_QUANTIZE)
#define CLI_GIVEN (CLI_RUN | CLI_BENCH | CLI_EMIT | CLI_COMPARE | CLI_REPORT | CLI_CHECK) /* commands with input values */
#define CLI_IMAGES (CLI_GIVEN | CLI_QUANTIZE | CLI_ACCURACY | CLI_BATCH)

static const cli_option cli_options[] = {
    {"-o", "FILE", CLI_EMIT | CLI_WASM | CLI_FRONTEND | CLI_REPORT | CLI_COMPILE | CLI_DOT | CLI_QUANTIZE | CLI_CONVERT,
     "the file to write, of convert also the second operand; - is standard output, but for compile and quantize, and the default of dot",
     cli_take_output},
    {"-o", "FILE", CLI_EMBED, "the .npy file to write, float32[texts,width]", cli_take_output},
    {"-o", "DIR", CLI_RUN, "the same as --output-dir", cli_take_output_dir},
    {"-o", "DIR", CLI_BATCH, "the same as --output", cli_take_output_dir},
    {"--name", "NAME", CLI_EMIT | CLI_FRONTEND,
     "prefix of the functions, NAME_run and the others; default: the model file's name, of a front end signal",
     cli_take_name},
    {"--input", "[NAME=]VALUE", CLI_GIVEN,
     "value of an input: FILE.npy, FILE.pb, FILE.png, FILE.jpg, FILE.wav, numbers such as 16000 or 0.5,1,2 (a single one fills the "
     "input), or random[:SEED]; once per input", cli_take_input},
    {"--golden", "[NAME=]VALUE", CLI_EMIT,
     "like --input; the self-test also checks the result of every node, and names the first one that differs",
     cli_take_golden},
    {"--arena", "BYTES", CLI_EMIT, "an arena that is larger is an error, which names the step that needs the most",
     cli_take_arena},
    {"--small", NULL, CLI_EMIT,
     "with --device mcu:TARGET: steps with the same kernel share one copy, for less code; default: a kernel specialized for "
     "the sizes of each step",
     cli_take_small},
    {"--region", "NAME=BYTES", CLI_EMIT,
     "a memory region for tensors and scratch instead of the arena, the fastest first; NAME_run_in has a pointer for "
     "each",
     cli_take_region},
    {"--section", "NAME=PATTERN", CLI_EMIT,
     "constants whose name, or whose node's name, has this form (* any text, ? any character), or with '>BYTES' larger "
     "ones, get the macro MODEL_DATA_NAME, for a section of their own", cli_take_section},
    {"--state", "IN=OUT", CLI_EMIT | CLI_WASM | CLI_CONVERT,
     "output OUT is the next value of input IN: both are in a state that stays between runs, not parameters of a run",
     cli_take_state},
    {"--fix", "NAME=VALUE", CLI_SHAPED,
     "make an input a constant: a file or numbers, as for --input of run; sizes and branches that depend on it are fixed",
     cli_take_fix},
    {"--dim", "NAME=N", CLI_SHAPED, "size of each dimension of that name, such as height=224; nnrt info shows the names", cli_take_dim},
    {"--shape", "[NAME=]D,D,...", CLI_SHAPED & ~CLI_CHECK,
     "shape of an input with dynamic dimensions, such as 1,3,224,224; of an input of a .tflite file any shape of its rank", cli_take_shape},
    {"--max", "[NAME=]D,D,...", CLI_SESSIONS & ~CLI_BATCH,
     "keep an input's dynamic dimensions dynamic, with these upper bounds; or set the upper bound of a result with a "
     "data-dependent shape", cli_take_most},
    {"--output-dir", "DIR", CLI_RUN, "write every output to DIR as NAME.npy; DIR is created if it does not exist",
     cli_take_output_dir},
    {"--dump", "DIR", CLI_RUN,
     "run once more with the result of every node as an output, and write each to DIR as NUMBER_NAME.npy, in the order of the "
     "nodes, with a table in DIR/index.tsv; nodes in the bodies of IF and LOOP are not written",
     cli_take_dump},
    {"--top", "K", CLI_RUN, "show the K largest values of each output, at most 1000; default 5, with --output-dir none",
     cli_take_top},
    {"--mean", "A[,B,C]", CLI_IMAGES,
     "images: value = (pixel - mean) * scale, pixel 0 to 255; one number or one per channel", cli_take_mean},
    {"--scale", "S[,T,U]", CLI_IMAGES,
     "images: the factor, also as a fraction such as 1/255. Default: mean 0, scale 1/255", cli_take_scale},
    {"--std", "S[,T,U]", CLI_IMAGES, "images: divisor instead of --scale", cli_take_std},
    {"--layout", "nchw|nhwc", CLI_IMAGES, "images: order of the input's axes; default: from its shape",
     cli_take_layout},
    {"--rgb", NULL, CLI_IMAGES, "images: red, green, blue (default with 3 channels)", cli_take_rgb},
    {"--bgr", NULL, CLI_IMAGES, "images: blue, green, red", cli_take_bgr},
    {"--gray", NULL, CLI_IMAGES,
     "images: gray (default with 1 channel); three equal channels if the input has 3", cli_take_gray},
    {"--invert", NULL, CLI_IMAGES, "images: 255 - pixel instead of the pixel, for dark drawings on a light background",
     cli_take_invert},
    {"--no-invert", NULL, CLI_IMAGES, "images: the pixel itself, overrides the metadata",
     cli_take_no_invert},
    {"--data", "DIR", CLI_CHECK, "an ONNX test data set, or a folder of test_data_set_*; its files are .pb or .npy", cli_take_data},
    {"--data", "PATH", CLI_QUANTIZE | CLI_ACCURACY,
     "the samples: a file, a folder of .npy, .csv, .pb, .png, .jpg or .wav files, or a .txt file with the path of one in each line; a .npy "
     "file may have several samples along its first axis, a .csv file has one in each line. For models with several inputs, folders "
     "with input_0.npy, input_1.npy, ...",
     cli_take_data},
    {"--input", "PATH", CLI_BATCH,
     "the samples: a .npy file with samples along its first axis; a .csv file with one in each line; a folder of .npy, .csv, .pb, .png, "
     ".jpg or .wav files; or a .txt file with the path of one in each line. For models with several inputs, folders with input_0.npy, "
     "input_1.npy, ...",
     cli_take_data},
    {"--output", "DIR", CLI_BATCH, "the folder of the results; it is created if it does not exist", cli_take_output_dir},
    {"--chunk", "N", CLI_BATCH,
     "samples in a file of results, which is the unit of work; default: a 64th of the samples, 1 to 1024", cli_take_chunk},
    {"--batch", "N", CLI_BATCH,
     "samples in a run, for a model whose first dimension is dynamic; default 1. A model with a fixed first dimension runs that many",
     cli_take_batch},
    {"--shard", "I/N|env[/N]", CLI_BATCH,
     "compute every Nth chunk, from chunk I on, counted from 0; env: I and N of a Slurm array, or I of an indexed job of Kubernetes or "
     "of GNU parallel", cli_take_shard},
    {"--jobs", "N", CLI_BATCH, "processes that compute at the same time and share the weights; default 1", cli_take_jobs},
    {"--merge", NULL, CLI_BATCH, "compute nothing, only join the chunks that shards have computed", cli_take_merge},
    {"--skip-bad", NULL, CLI_BATCH,
     "continue after a sample that is missing, damaged or has another shape: its row is NaN, or 0 for integers, and bad.txt lists it",
     cli_take_skip_bad},
    {"--skip-bad", NULL, CLI_QUANTIZE | CLI_ACCURACY, "leave out samples that are missing, damaged or have another shape, with a message each",
     cli_take_skip_bad},
    {"--held-out", "PATH", CLI_QUANTIZE,
     "other samples, in the form of --data, for the comparison with float32, --sensitivity and --max-loss", cli_take_held_out},
    {"--samples", "N", CLI_QUANTIZE | CLI_ACCURACY | CLI_BATCH, "use only the first N samples, in the order of the names, shorter names first", cli_take_samples},
    {"--without", "STEP,...", CLI_QUANTIZE,
     "disable steps: equalize, ranges (then minimum and maximum), bias, channels (then one scale per weight tensor)",
     cli_take_without},
    {"--weights-only", "4|8", CLI_QUANTIZE,
     "quantize only the weights of matrix products, in blocks; values stay float32, and no samples are needed",
     cli_take_weights_only},
    {"--dynamic", NULL, CLI_QUANTIZE,
     "matrix products with constant weights compute in 8 bits: the weights get codes now, the other operand gets them in each run, by its "
     "minimum and maximum there; no samples are needed",
     cli_take_dynamic},
    {"--block", "N", CLI_QUANTIZE, "with --weights-only: weights with one scale, a power of 2 of 16 to 65536, default 32", cli_take_block},
    {"--least-squares", NULL, CLI_QUANTIZE,
     "choose the codes of weights by the least squared error of the layers' results instead of the nearest ones; takes more time",
     cli_take_least_squares},
    {"--exact", NULL, CLI_QUANTIZE,
     "compute the samples on the reference device, as --device reference does: the same bytes on every machine, in more time",
     cli_take_exact},
    {"--uint8", NULL, CLI_QUANTIZE, "uint8 instead of int8 for values between operators; weights are int8", cli_take_uint8},
    {"--16x8", NULL, CLI_QUANTIZE,
     "int16 instead of int8 for values between convolutions and fully connected layers, weights are int8; other operators stay float32. "
     "The output is a .nnrt file",
     cli_take_16x8},
    {"--full-integer", NULL, CLI_QUANTIZE,
     "8 bits for all operators that have them, also where float32 is faster or costs less accuracy; the default with --int8-io, --16x8 and an "
     "ONNX file as output",
     cli_take_full_integer},
    {"--processor", "NAME", CLI_QUANTIZE,
     "the processor on which operators that are faster in float32 stay so: vnni, which multiplies bytes, avx2, which adds products of bytes in 16 bits and gets weights of 7 bits, "
     "or auto, this machine's; default auto, with --exact vnni",
     cli_take_processor},
    {"--sensitivity", NULL, CLI_QUANTIZE,
     "also print the signal-to-noise ratio of the outputs if each node alone is quantized, the noisiest first, in the format of --keep",
     cli_take_sensitivity},
    {"--max-loss", "L", CLI_QUANTIZE,
     "let as few of the noisiest nodes stay float32 as needed for a noise of the outputs of at most L times their signal, such as "
     "0.01 (20 dB), and print them",
     cli_take_max_loss},
    {"--classes", "FILE", CLI_QUANTIZE,
     "the class of each sample of --held-out or --data, as --labels of accuracy: prints the accuracy (top 1) of both models, and the L of --max-loss is "
     "the accuracy that may be lost, such as 0.01 (one percentage point), instead of noise",
     cli_take_classes},
    {"--ranges", NULL, CLI_QUANTIZE, "also print range, scale, zero point and signal-to-noise ratio of each tensor",
     cli_take_ranges},
    {"--report", "FILE", CLI_QUANTIZE,
     "also write an HTML page: sizes, ranges and histograms of all tensors, scales of the weights, signal-to-noise ratios",
     cli_take_report},
    {"--expected", "[OUTPUT=]FILE", CLI_CHECK,
     "instead of --data, with --input: expected value of an output, .npy or .pb",
     cli_take_expected},
    {"--rtol", "R", CLI_CHECK | CLI_COMPARE,
     "floats: allowed error relative to the expected value; default of check 1e-3, of compare by type, see above",
     cli_take_rtol},
    {"--atol", "A", CLI_CHECK | CLI_COMPARE,
     "allowed absolute error in addition, for quantized values in units of the integers; default of check 1e-5, of "
     "compare by type, see above",
     cli_take_atol},
    {"--labels", "[OUTPUT=]FILE", CLI_CONVERT | CLI_QUANTIZE, "class labels, one per line: metadata labels, or labels.OUTPUT",
     cli_take_labels},
    {"--labels", "FILE", CLI_ACCURACY,
     "the class of each sample: a .npy file of integers, or a text with a line for each sample, CLASS or FILE CLASS; a class is a "
     "number from 0 on, or a label of the model", cli_take_labels},
    {"--meta", "KEY=VALUE", CLI_CONVERT | CLI_QUANTIZE, "metadata: a text to store in the file; KEY= removes it", cli_take_metadata},
    {"--set", "KEY=VALUE", CLI_CONVERT, "the same as --meta", cli_take_metadata},
    {"--budget", "N", CLI_SESSIONS | CLI_DOT | CLI_GENERATE | CLI_EMBED | CLI_CONVERT | CLI_EMIT | CLI_WASM | CLI_QUANTIZE,
     "allow a model file of another format or an image N times the memory and work that its size allows", cli_take_budget},
    {"--outputs", "NAME,NAME,...", CLI_SESSIONS | CLI_DOT | CLI_CONVERT | CLI_EMIT | CLI_WASM | CLI_QUANTIZE,
     "use these values, inputs or results of nodes, as the outputs of an ONNX or .tflite model; nodes that they do not need are "
     "removed", cli_take_cut},
    {"--signature", "NAME", CLI_SESSIONS | CLI_DOT | CLI_CONVERT | CLI_EMIT | CLI_WASM | CLI_QUANTIZE,
     "the signature of a .tflite file to use; default: that of its first subgraph", cli_take_signature},
    {"--no-optimize", NULL, CLI_CONVERT | CLI_EMIT | CLI_WASM | CLI_COMPILE,
     "do not optimize the model; by default constants are folded and operators fused", cli_take_no_optimize},
    {"--no-quantize", NULL, CLI_SESSIONS | CLI_DOT | CLI_CONVERT | CLI_EMIT | CLI_WASM,
     "operators between DequantizeLinear and QuantizeLinear compute in float32, QLinear operators round as ONNX does; by default both are quantized operators",
     cli_take_no_quantize},
    {"--int8-io", NULL, CLI_CONVERT | CLI_EMIT | CLI_WASM | CLI_COMPILE | CLI_QUANTIZE,
     "inputs and outputs become int8 or uint8 tensors with scale and zero point, without casts from and to float32; a "
     "SOFTMAX before an output computes in integers (scale 1/256). A warning names each one that stays float32",
     cli_take_int8_io},
    {"--socket", "PATH", CLI_SERVE, "where to listen; a socket without a listening process is replaced",
     cli_take_socket},
    {"--limits", "NAME=N,...", CLI_SERVE,
     "limits for clients: clients=16 at once; each of them models=64, buffers=256, bytes=1073741824 of memory, "
     "message=262144 bytes, time=10000 ms for a message; these are the defaults",
     cli_take_limits},
    {"--users", "N,N,...", CLI_SERVE,
     "ids of the users who may connect; default: the user who runs the server", cli_take_users},
    {"--mode", "MODE", CLI_SERVE, "permissions of the socket's file, octal; default 0600", cli_take_mode},
    {"--properties", "KEY=VALUE;...", CLI_PLACED | CLI_DEVICES | CLI_SERVE,
     "properties for drivers of NNAdapter's hardware layer that later --load options load", cli_take_properties},
    {"--load", "libNAME.so", CLI_PLACED | CLI_DEVICES | CLI_SERVE,
     "load a driver: registers its device table (devices/nnrt_driver.h), or one for NNAdapter's hardware layer "
     "(compat/nnadapter/driver.h) as the device NAME; before --device",
     cli_take_load},
    {"--device", "NAME", CLI_PLACED | CLI_DEVICES | CLI_SERVE | CLI_EMIT | CLI_WASM | CLI_QUANTIZE,
     "where to run: a name that 'nnrt devices' lists, default auto; auto:DEVICE,DEVICE,...: partition the model "
     "over these, the preferred one first; cpu: fast kernels (devices/nnrt_cpu.h); remote:PATH: the device that "
     "'nnrt serve' serves at that socket; fake:KEY=VALUE,... (devices/nnrt_fake.h): a device for tests; mcu:TARGET "
     "(devices/nnrt_mcu.h): kernels for a microcontroller, for emit-c, whose default is reference, and compile. compare "
     "uses two, other commands the last one",
     cli_take_device},
    {"--cache", "DIR", CLI_RUN | CLI_BENCH | CLI_CHECK,
     "store the prepared model of devices with a model cache in the folder DIR, and restore it from there the next "
     "time",
     cli_take_cache},
    {"--strict", NULL, CLI_PLACED,
     "device auto: fail for nodes that no listed device supports; by default the reference device runs them",
     cli_take_strict},
    {"--fallback", NULL, CLI_SESSIONS,
     "device auto: if a device fails in a run, the next device computes the partition, which it prepares, too",
     cli_take_fallback},
    {"--keep", "FILE", CLI_PLACED,
     "device auto: nodes that stay on the reference device, one line OPERATOR[:INPUT,...[:OUTPUT,...]] each, such as "
     "SOFTMAX or ADD_FUSION:x:y",
     cli_take_keep},
    {"--keep", "FILE", CLI_QUANTIZE, "nodes that stay float32, one line OPERATOR[:INPUT,...[:OUTPUT,...]] each", cli_take_keep},
    {"--smallest", "N", CLI_PLACED, "device auto: partitions of fewer nodes stay on the reference device; default 1",
     cli_take_smallest},
    {"--float16", NULL, CLI_SESSIONS, "the device may compute float32 in float16", cli_take_float16},
    {"--performance", "MODE", CLI_SESSIONS, "performance mode of the device: none, low, medium, high or extreme",
     cli_take_performance},
    {"--priority", "LEVEL", CLI_SESSIONS,
     "priority of the model on the device: none, low, medium or high", cli_take_priority},
    {"--extension", "NAME=VALUE", CLI_SESSIONS,
     "an extension of the device; cpu: nnrt.cpu.winograd=0 selects exact convolutions only, nnrt.cpu.memory=smallest less memory for more time, nnrt.cpu.weights=int8 rounds weights of LSTM, GRU, RNN and matrix-vector products to 8 bits", cli_take_extension},
    {"--log", "LEVEL", CLI_SESSIONS | CLI_GENERATE | CLI_EMBED | CLI_DOT | CLI_CONVERT | CLI_EMIT | CLI_WASM | CLI_SERVE | CLI_QUANTIZE,
     "log to standard error: warning, info (also each step), or debug (also each node)", cli_take_log},
    {"--threads", "N", CLI_THREADS,
     "number of threads of a run, default 1, or by --performance; of the built-in devices only cpu is multithreaded",
     cli_take_threads},
    {"--reps", "N", CLI_BENCH | CLI_RUN,
     "bench: number of timed runs; default: as many as fit in a second, 10 to 10000. run: runs with the same inputs, between "
     "which states stay; shows the last one; default 1", cli_take_reps},
    {"--ids", "N,N,...", CLI_GENERATE, "the tokens of the prompt, as numbers in the vocabulary", cli_take_ids},
    {"--prompt", "TEXT", CLI_GENERATE, "the prompt as text; with --chat the first message", cli_take_prompt},
    {"--prompt-file", "FILE", CLI_GENERATE, "the prompt is the text of a file; - is standard input", cli_take_prompt_file},
    {"--chat", NULL, CLI_GENERATE,
     "each line of standard input is a message, which the model answers; the conversation ends with the input", cli_take_chat},
    {"--system", "TEXT", CLI_GENERATE, "with --chat: the system's message, before the first one", cli_take_system},
    {"--template", "NAME", CLI_GENERATE,
     "with --chat: the chat template instead of that of the file: llama2, llama3, chatml, gemma, phi3, mistral or zephyr",
     cli_take_template},
    {"--raw", NULL, CLI_GENERATE, "with --chat: lines are the prompt as they are, without a chat template", cli_take_raw},
    {"--tokens", "N", CLI_GENERATE,
     "number of tokens to generate, default 32, of a text or a reply at most 256; 0, with --save-cache: only process the prompt",
     cli_take_tokens},
    {"--context", "N", CLI_SESSIONS | CLI_CONVERT | CLI_GENERATE,
     "of a GGUF or safetensors file: keep keys and values of at most N tokens in the session, memory of a fixed size that a run updates "
     "in place. generate: of any decoder; tokens of prompts and replies together; default: prompt and --tokens, at most the context of "
     "the model; with --chat that, at most 2048",
     cli_take_context},
    {"--cache-type", "f32|f16|q8_0", CLI_SESSIONS | CLI_CONVERT | CLI_GENERATE,
     "with the keys and values of --context, and of generate: f16 stores them as float16, in half of the memory; q8_0 as int8 with a "
     "float16 scale for 32 of them, in 0.27 of the memory; default f32",
     cli_take_cache_type},
    {"--cache-page", "N", CLI_SESSIONS | CLI_CONVERT | CLI_GENERATE,
     "the keys and values of --context are pages of N tokens, which several sequences share; an input 'pages' lists the pages of one sequence",
     cli_take_cache_page},
    {"--save-cache", "FILE", CLI_GENERATE,
     "write the keys and values of prompt and text, and their tokens, to a file in the end", cli_take_save_cache},
    {"--load-cache", "FILE", CLI_GENERATE,
     "continue behind the tokens of a file of --save-cache, of the same model and --cache-type: the prompt, if there is one, follows them",
     cli_take_load_cache},
    {"--context-shift", NULL, CLI_GENERATE,
     "when --context is full, drop the older half of the tokens behind --keep-tokens, instead of ending", cli_take_shift},
    {"--keep-tokens", "N", CLI_GENERATE, "with --context-shift: the first N tokens stay, default 1", cli_take_keep_tokens},
    {"--batch", "N", CLI_GENERATE | CLI_INFO,
     "tokens of the prompt in a run; the memory of a run grows with it, not with the prompt. Default 256; info: with --context",
     cli_take_batch},
    {"--temperature", "T", CLI_GENERATE,
     "choose tokens by chance: logits are divided by T, such as 0.8; default 0: the most likely token", cli_take_temperature},
    {"--top-k", "K", CLI_GENERATE, "with --temperature: only the K most likely tokens", cli_take_top_k},
    {"--top-p", "P", CLI_GENERATE, "with --temperature: only the fewest tokens whose probabilities have this sum", cli_take_top_p},
    {"--min-p", "P", CLI_GENERATE, "with --temperature: only tokens with this part of the largest probability", cli_take_min_p},
    {"--repeat-penalty", "R", CLI_GENERATE, "divide positive logits of the last 64 tokens by R, multiply negative ones, such as 1.1",
     cli_take_repeat_penalty},
    {"--presence-penalty", "R", CLI_GENERATE, "subtract R from the logits of the last 64 tokens", cli_take_presence_penalty},
    {"--seed", "N", CLI_GENERATE, "with --temperature: another choice; the same N chooses the same tokens again; default 0",
     cli_take_seed},
    {"--quiet", NULL, CLI_GENERATE | CLI_EMBED, "no figures and no progress on standard error", cli_take_quiet},
    {"--text", "TEXT", CLI_TOKENIZE | CLI_EMBED, "a text instead of a file; may be repeated", cli_take_text},
    {"--decode", "N,N,...", CLI_TOKENIZE, "print the text of these tokens, without control tokens", cli_take_decode},
    {"--pieces", NULL, CLI_TOKENIZE, "print a line for each token: number, text, its type unless it is normal", cli_take_pieces},
    {"--plain", NULL, CLI_TOKENIZE | CLI_EMBED, "spell control tokens in the text, such as <|im_end|>, as ordinary text", cli_take_plain},
    {"--no-affixes", NULL, CLI_TOKENIZE | CLI_EMBED, "without the tokens that the model has before and after a text", cli_take_bare},
    {"--tokenizer", "FILE", CLI_TEXTS & ~CLI_TOKENIZE,
     "the tokenizer: a tokenizer.json, or a GGUF file; default: that of a GGUF file, or the one beside a safetensors file", cli_take_tokenizer},
    {"--pooling", "KIND", CLI_EMBED,
     "of a model with a vector for each token: their mean (default), or the first or the last one", cli_take_pooling},
    {"--normalize", NULL, CLI_EMBED, "vectors of length 1, the default", cli_take_normalize},
    {"--no-normalize", NULL, CLI_EMBED, "vectors as the model computes them", cli_take_no_normalize},
    {"--all-logits", NULL, CLI_SESSIONS | CLI_CONVERT, "of a GGUF or safetensors file: logits after each token instead of the last one",
     cli_take_all_logits},
    {"--float-activations", NULL, CLI_SESSIONS | CLI_CONVERT | CLI_GENERATE,
     "of a GGUF or ONNX file: multiply quantized matrices by float32 where activations could be rounded to int8 (accuracy_level 4); slower",
     cli_take_float_activations},
    {"--copy", "NAME", CLI_OPS, "print the float32 kernel of an operator, or a kernel that is named, as C that compiles by itself",
     cli_take_copy},
    {"--show", "NAME", CLI_OPS, "print shapes, attributes, formula and float32 kernel of an operator, to read them", cli_take_show},
    {"--header", "PATH", CLI_OPS | CLI_WASM,
     "the nnrt_ops.h that --copy reads, or beside which emit-wasm finds the other headers; default: that of this program",
     cli_take_header},
    {"--memory", NULL, CLI_INFO,
     "also the memory map: offset, bytes and first and last step of every value in the arena",
     cli_take_memory},
    {"--placement", NULL, CLI_INFO, "also the device of each node, and why it is not the preferred one",
     cli_take_placement},
    {"--records", NULL, CLI_INFO, "print only the nodes, one line each in the format of --keep", cli_take_records},
    {"--profile", "[=FILE]", CLI_RUN | CLI_BENCH,
     "also the time of each step and operator; with =FILE write the last run as a Chrome trace", cli_take_profile},
    {"--type", "TYPE", CLI_OPS, "with --copy: the kernel for this element type instead, specialized for it", cli_take_type},
    {"--all", NULL, CLI_OPS, "with --copy: the kernels for all element types", cli_take_all},
    {"--activation", "NAMES", CLI_OPS, "with --copy: only these fused activations, for example RELU,RELU6; NO_ACTIVATION: none",
     cli_take_activations},
    {"--example", NULL, CLI_OPS, "with --copy: also print a main() that calls the kernel", cli_take_example},
    {"--onnx", NULL, CLI_OPS, "list the operators of ONNX and the operators they become", cli_take_onnx},
    {"--tflite", NULL, CLI_OPS, "list the operators of TensorFlow Lite and the operators they become", cli_take_tflite},
    {"--tsv", NULL, CLI_OPS,
     "one line per operator: name, number, types and the rest, separated by tabs", cli_take_tsv},
    {"--json", NULL, (CLI_SESSIONS & ~(CLI_REPORT | CLI_BATCH)) | CLI_TEXTS | CLI_OPS | CLI_DEVICES | CLI_CONVERT | CLI_QUANTIZE, "print one line of JSON", cli_take_json},
    {"--help", NULL, CLI_ALL, "print this help", cli_take_help},
};

#define CLI_OPTIONS (sizeof(cli_options) / sizeof(cli_options[0]))

/* True if the value of an option is optional. */
static bool cli_may_lack(const cli_option *o)
{
    return o->value != NULL && strncmp(o->value, "[=", 2) == 0;
}

static void cli_help_command(const cli_command *c)
{
    printf("usage: nnrt %s%s%s [options]\n\n%s\n\n%soptions:\n", c->name, *c->operands != '\0' ? " " : "", c->operands,
           c->what, c->text);
    for (size_t i = 0; i < CLI_OPTIONS; i++) {
        const cli_option *o = &cli_options[i];
        char head[48];
        if ((o->commands & c->bit) == 0)
            continue;
        snprintf(head, sizeof(head), "%s%s%s", o->name, o->value != NULL && !cli_may_lack(o) ? " " : "",
                 o->value != NULL ? o->value : "");
        printf("  %-22s %s\n", head, o->help);
    }
    printf("\nexample:\n  %s\n", c->example);
}

/* Finds the option "--name" or "--name=value" of a command; *value is the text after '=', or NULL. NULL: it has none. */
static const cli_option *cli_find_option(const cli_command *c, const char *text, const char **value)
{
    size_t n = strcspn(text, "=");
    *value = text[n] == '=' ? text + n + 1 : NULL;
    if (strcmp(text, "-h") == 0)
        text = "--help", n = 6;
    for (size_t i = 0; i < CLI_OPTIONS; i++)
        if ((cli_options[i].commands & c->bit) != 0 && strlen(cli_options[i].name) == n &&
            memcmp(cli_options[i].name, text, n) == 0)
            return &cli_options[i];
    return NULL;
}

/* Adds an option of batch to args->given, unless it has no effect on the results or is recorded elsewhere. */
static int cli_note_given(cli_args *args, const cli_option *o, const char *value)
{
    static const char *const without[] = {"--input", "--output", "-o", "--chunk", "--shard", "--jobs", "--merge", "--skip-bad", "--threads", "--log", "--load",
                                          "--budget", "--priority", "--performance", "--help", NULL};
    const size_t used = strlen(args->given), room = sizeof(args->given) - used;
    if (cli_word(o->name, without) >= 0)
        return CLI_DONE;
    if ((size_t)snprintf(args->given + used, room, " %s%s%s", o->name, value != NULL ? " " : "", value != NULL ? value : "") >= room)
        return cli_usage("batch: the options have more than %u characters", (unsigned)sizeof(args->given) - 1);
    for (char *at = args->given; *at != '\0'; at++) /* one line of the manifest */
        *at = (unsigned char)*at < ' ' ? '?' : *at;
    return CLI_DONE;
}

#define CLI_CLOSE 9 /* less: at most two letters differ, are missing or too many */

/* Whether `name` is closer to the misspelt text than the best so far, at first CLI_CLOSE. */
static bool cli_closer(const char *text, const char *name, unsigned *best)
{
    const unsigned there = cli_distance(text, name), back = cli_distance(name, text), distance = there > back ? there : back;
    if (distance >= *best)
        return false;
    *best = distance;
    return true;
}

/* Fails for an option that the command does not have. */
static int cli_unknown_option(const cli_command *c, const char *text)
{
    const size_t n = strcspn(text, "=");
    char *name = cli_text_copy(text, n);
    const char *near = NULL;
    unsigned best = CLI_CLOSE;
    for (size_t i = 0; i < CLI_OPTIONS && name != NULL; i++)
        if ((cli_options[i].commands & c->bit) != 0 && cli_closer(name, cli_options[i].name, &best))
            near = cli_options[i].name;
    free(name);
    return near != NULL ? cli_usage("%s: unknown option %.*s; did you mean %s? 'nnrt %s --help' lists the options", c->name, (int)n, text, near, c->name)
                        : cli_usage("%s: unknown option %.*s; 'nnrt %s --help' lists the options", c->name, (int)n, text, c->name);
}

/* Parses the option at argv[*i] and its value, which may be the next argument. */
static int cli_parse_option(const cli_command *c, cli_args *args, int argc, char **argv, int *i)
{
    const char *value;
    const cli_option *o = cli_find_option(c, argv[*i], &value);
    if (o == NULL)
        return cli_unknown_option(c, argv[*i]);
    if (o->value == NULL && value != NULL)
        return cli_usage("%s: %s takes no value", c->name, o->name);
    if (o->value != NULL && value == NULL && !cli_may_lack(o)) {
        if (*i + 1 >= argc)
            return cli_usage("%s: %s lacks its value %s", c->name, o->name, o->value);
        value = argv[++*i];
    }
    if (o->take(args, value))
        return c->bit == CLI_BATCH ? cli_note_given(args, o, value) : CLI_DONE;
    if (args->error.message[0] != '\0')
        return cli_usage("%s: %s %s: %s", c->name, o->name, value, args->error.message);
    return cli_usage(strcmp(o->name, "--device") == 0
                             ? "%s: %s %s: unknown device; 'nnrt devices' lists the devices"
                             : "%s: %s does not take '%s'",
                         c->name, o->name, value);
}

/* Parses all arguments after the command. Options may be anywhere; after "--" every argument is an operand. */
static int cli_parse(const cli_command *c, cli_args *args, int argc, char **argv)
{
    bool onlyOperands = false;
    int status;
    memset(args, 0, sizeof(*args));
    args->argv = argv - 1;
    args->argc = argc + 1;
    args->rtol = c->bit == CLI_COMPARE ? -1 : 1e-3;
    args->atol = c->bit == CLI_COMPARE ? -1 : 1e-5;
    for (int i = 0; i < argc; i++) {
        if (!onlyOperands && strcmp(argv[i], "--") == 0) {
            onlyOperands = true;
        } else if (!onlyOperands && argv[i][0] == '-' && argv[i][1] != '\0') {
            if ((status = cli_parse_option(c, args, argc, argv, &i)) != CLI_DONE || args->help)
                return status;
        } else if ((c->bit == CLI_CONVERT || c->bit == CLI_ACCURACY) && args->model != NULL && args->output == NULL) {
            args->output = argv[i];
        } else if ((c->bit == CLI_TOKENIZE || c->bit == CLI_EMBED) && args->model != NULL && args->data == NULL) {
            args->data = argv[i];
        } else if (*c->operands == '\0' || args->model != NULL) {
            return cli_usage("%s: unexpected argument '%s'; see 'nnrt %s --help'", c->name, argv[i], c->name);
        } else {
            args->model = argv[i];
        }
    }
    if (*c->operands != '\0' && args->model == NULL)
        return cli_usage("%s: the %s is missing; see 'nnrt %s --help'", c->name,
                         c->bit == CLI_FRONTEND ? "description" : "model", c->name);
    if ((c->bit & (CLI_CONVERT | CLI_EMIT | CLI_WASM | CLI_FRONTEND | CLI_REPORT | CLI_COMPILE | CLI_QUANTIZE | CLI_EMBED)) != 0 && args->output == NULL)
        return cli_usage("%s: the output file is missing; see 'nnrt %s --help'", c->name, c->name);
    if (args->weightBits == 0 && !args->dynamicCodes && (c->bit & (CLI_QUANTIZE | CLI_ACCURACY)) != 0 && args->data == NULL)
        return cli_usage("%s: --data is missing: the samples of the input; see 'nnrt %s --help'", c->name, c->name);
    if (c->bit == CLI_BATCH && (args->data == NULL || args->outputDir == NULL))
        return cli_usage("batch: %s is missing; see 'nnrt batch --help'", args->data == NULL ? "--input PATH" : "--output DIR");
    if (args->weightBits > 0 && args->dynamicCodes)
        return cli_usage("%s: --weights-only and --dynamic exclude each other", c->name);
    if ((args->weightBits > 0 || args->dynamicCodes) && (args->data != NULL || args->heldOut != NULL || args->int8Io || args->sensitivity || args->maxLoss > 0 ||
                                 args->leastSquares || args->fullInteger || args->ranges || args->uint8 || args->int16 || args->withoutSteps != 0 || args->report != NULL ||
                                 args->classes != NULL))
        return cli_usage("%s: %s needs no samples, and takes only --keep%s; nnrt accuracy compares models", c->name,
                         args->dynamicCodes ? "--dynamic" : "--weights-only", args->dynamicCodes ? "" : " and --block");
    if (args->int16 && (args->uint8 || args->int8Io || cli_ends_with(args->output, ".onnx")))
        return cli_usage("%s: --16x8 writes a .nnrt file, and goes neither with --uint8 nor with --int8-io", c->name);
    if (args->weightBlock > 0 && args->weightBits == 0)
        return cli_usage("%s: --block is for --weights-only; see 'nnrt %s --help'", c->name, c->name);
    return CLI_DONE;
}

/* Tolerance of a value: --rtol and --atol, else the default of its type. float32 sums in another order differ by a few
   ulp (6e-8), sums of many terms by hundreds; quantized values may round to a neighbor; integers are exact. */
static cli_tolerance cli_tolerance_of(const cli_args *args, NNRT_DataType type, bool quantized)
{
    cli_tolerance t = {0, 0};
    if (cli_is_float(type)) {
        t.rtol = type == NNRT_DATA_TYPE_FLOAT16 ? 1e-2 : type == NNRT_DATA_TYPE_FLOAT32 ? 1e-4 : 1e-7;
        t.atol = type == NNRT_DATA_TYPE_FLOAT16 ? 1e-3 : type == NNRT_DATA_TYPE_FLOAT32 ? 1e-5 : 1e-7;
        t.rtol = args->rtol >= 0 ? args->rtol : t.rtol;
        t.atol = args->atol >= 0 ? args->atol : t.atol;
    } else if (quantized) {
        t.atol = args->atol >= 0 ? args->atol : 1;
    }
    return t;
}

#endif /* NNRT_TOOL_ARGS_H */
