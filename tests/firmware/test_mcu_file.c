/* Plans in files for firmware (devices/nnrt_mcu.h, >>program): results equal the reference device's bit by bit. A file
   is refused that is cut short, damaged, misaligned, of another layout or processor, or with an absent kernel. A file
   with a right checksum never leads a kernel outside its buffers, whatever its numbers are (the sanitizers watch).

       test_mcu_file                 all tests
       test_mcu_file MODEL.nnrt ..   compares these models only, as tests/firmware/test_mcu_program.py does
       test_mcu_file --write FOLDER  writes small files: the first inputs of the fuzz target mcu */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FUZZ_INCLUDED
#include "../fuzz/fuzz_mcu.c"

#define MCU_LAYERS_INCLUDED
#include "mcu_layers.c"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* ---- files ---- */

typedef struct image {
    uint8_t *data;
    size_t bytes;
} image;

static NNRT_Model *model_of(const layer *l)
{
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    nnrt_error e;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_builder_create(&b, l->name, NULL), NNRT_SUCCESS);
    build(b, l);
    if (nnrt_builder_finish(b, &model, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", l->name, e.message);
    nnrt_builder_destroy(b);
    return model;
}

/* Prepares a model for a target and saves its plan; the required bytes suffice, and one fewer does not. */
static NNRT_ReturnCode save(const NNRT_Model *model, const char *target, image *file, nnrt_error *e)
{
    NNRT_ModelConfig config;
    NNRT_PreparedModel *prepared = NULL;
    NNRT_ReturnCode code;
    char name[40];
    size_t bytes = 0;
    memset(&config, 0, sizeof(config));
    memset(e, 0, sizeof(*e));
    config.error = e;
    config.arenaAlignment = 8;
    config.callerWorkspace = true;
    snprintf(name, sizeof(name), "mcu:%s", target);
    if (nnrt_device_find(name) == NULL)
        assert_int_equal(nnrt_mcu_register(target, NULL), NNRT_SUCCESS);
    assert_int_equal(nnrt_device_prepare(nnrt_device_find(name), model, &config, &prepared), NNRT_SUCCESS);
    code = nnrt_mcu_save_memory(prepared, model, target, NULL, 0, &file->bytes, e);
    file->data = NULL;
    if (code == NNRT_SUCCESS) {
        file->data = (uint8_t *)fuzz_block(file->bytes);
        assert_int_equal(nnrt_mcu_save_memory(prepared, model, target, file->data, file->bytes - 1, &bytes, NULL),
                         NNRT_INSUFFICIENT_BUFFER);
        code = nnrt_mcu_save_memory(prepared, model, target, file->data, file->bytes, &bytes, e);
        assert_int_equal(bytes, file->bytes);
    }
    prepared->vtbl->Destroy(prepared);
    return code;
}

static image file_of(const layer *l, const char *target)
{
    NNRT_Model *model = model_of(l);
    nnrt_error e;
    image file;
    if (save(model, target, &file, &e) != NNRT_SUCCESS)
        fail_msg("%s: %s", l->name, e.message);
    nnrt_model_destroy(model);
    return file;
}

/* The program of a file, with all kernels. */
static nnrt_mcu_program opened(const image *file)
{
    nnrt_mcu_program program;
    assert_int_equal(nnrt_mcu_open(&program, file->data, file->bytes, nnrt_mcu_all()), NNRT_SUCCESS);
    return program;
}

/* ---- the same results ---- */

/* The file describes an input or output as the model does. */
static void same_io(const nnrt_mcu_program *program, const nnrt_mcu_io *io, const NNRT_Tensor *t)
{
    assert_non_null(io);
    assert_true(io->dataType == t->dataType || t->dataType == NNRT_DATA_TYPE_UNKNOWN);
    assert_string_equal(nnrt_mcu_text(program, io->name), t->name);
    if (t->quantParams.count == 1) {
        assert_true(io->scale == t->quantParams.data[0].scale);
        assert_int_equal(io->zeroPoint, t->quantParams.data[0].zeroPoint);
    }
    for (uint32_t i = 0; i < t->dims.count && t->dims.count == (uint32_t)io->rank; i++)
        assert_int_equal(io->dims[i], t->dims.data[i]);
}

/* Runs a file in memory, inputs and outputs of exact size, and compares its outputs with those of a session on a
   device. */
static void same_results(const NNRT_Model *model, const image *file, const char *device, const char *what)
{
    const nnrt_mcu_program program = opened(file);
    nnrt_session_desc desc;
    nnrt_session *s = NULL;
    nnrt_io in[FUZZ_MCU_IO], out[FUZZ_MCU_IO];
    void *io[FUZZ_MCU_IO], *memory = fuzz_block(program.memoryBytes);
    uint32_t nIn, nOut;
    memset(&desc, 0, sizeof(desc));
    desc.device = device;
    assert_int_equal(nnrt_session_create(&s, model, &desc, NULL), NNRT_SUCCESS);
    nIn = nnrt_session_inputs(s);
    nOut = nnrt_session_outputs(s);
    assert_null(nnrt_mcu_input(&program, nIn));
    assert_null(nnrt_mcu_output(&program, nOut));
    for (uint32_t i = 0; i < nIn + nOut; i++) {
        const bool output = i >= nIn;
        const size_t bytes = output ? nnrt_session_output(s, i - nIn).bytes : nnrt_session_input(s, i).bytes;
        const nnrt_mcu_io *t = output ? nnrt_mcu_output(&program, i - nIn) : nnrt_mcu_input(&program, i);
        same_io(&program, t,
                &model->allTensors.data[(output ? model->outputIndex : model->inputIndex).data[output ? i - nIn : i]]);
        assert_int_equal(t->bytes, bytes);
        io[i] = fuzz_block(bytes);
        for (size_t k = 0; k < bytes; k++)
            ((uint8_t *)io[i])[k] = (uint8_t)dice(0, 255);
        *(output ? &out[i - nIn] : &in[i]) = nnrt_io_make(output ? fuzz_block(bytes) : io[i], bytes);
    }
    assert_int_equal(nnrt_run(s, in, nIn, out, nOut), NNRT_SUCCESS);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(nnrt_mcu_run(&program, memory, io), NNRT_SUCCESS);
        for (uint32_t i = 0; i < nOut; i++)
            if (memcmp(io[nIn + i], out[i].data, out[i].bytes) != 0)
                fail_msg("%s: output %u differs from that of %s", what, i, device);
        memset(memory, 0x5A, program.memoryBytes);
    }
    for (uint32_t i = 0; i < nIn + nOut; i++)
        free(io[i]);
    for (uint32_t i = 0; i < nOut; i++)
        free(out[i].data);
    free(memory);
    nnrt_session_destroy(s);
}

/* Saves a model and compares results, float32 with the device of the target: its sums are not the reference device's.
   false: a node has no kernel of the target, and the message names it. */
static bool compares(const NNRT_Model *model, const char *target, const char *what)
{
    nnrt_error e;
    image file;
    char device[40];
    const NNRT_ReturnCode code = save(model, target, &file, &e);
    snprintf(device, sizeof(device), "mcu:%s", target);
    if (code == NNRT_SUCCESS)
        same_results(model, &file, real ? device : "reference", what);
    else if (code != NNRT_NOT_SUPPORT || strstr(e.message, "has kernel nnrt_") == NULL ||
             strstr(e.message, "node '") == NULL)
        fail_msg("%s: %s", what, e.message);
    free(file.data);
    return code == NNRT_SUCCESS;
}

static const char *const processors[] = {"cortex-m4", "cortex-m3", "cortex-m55"}; /* a target of each */

/* A layer for which float32 has no kernel. */
static bool is_transposed(const layer *l)
{
    return l->kind == TRANSPOSED || l->kind == TRANSPOSED_DEPTHWISE;
}

/* Whether the layer has a cast, which float32 does not have. */
static bool is_cast(const layer *l)
{
    return l->kind == REQUANTIZE || l->kind == CONCAT || l->kind == QUANTIZE || l->kind == DEQUANTIZE;
}

/* Each layer on each target, quantized; in float32 if kernels for it exist. */
static void test_layers(void **state)
{
    uint32_t saved = 0;
    (void)state;
    for (uint32_t i = 0; i < COUNT(layers); i++)
        for (uint32_t k = 0; nnrt_mcu_target(k) != NULL; k++)
            for (int floats = 0; floats < 2; floats++) {
                NNRT_Model *model;
                real = floats != 0;
                if (real && is_cast(&layers[i]))
                    continue;
                sixteen = !real && strncmp(layers[i].name, "16x8 ", 5) == 0;
                model = model_of(&layers[i]);
                assert_true(work_of(&layers[i]) > 0);
                real = real && layers[i].kind != SOFTMAX; /* it has the bits of the reference device in float32, too */
                if (compares(model, nnrt_mcu_target(k), layers[i].name))
                    saved++;
                else if (strcmp(nnrt_mcu_target(k), "cortex-m4") == 0 &&
                         (!real || (layers[i].kind <= FULL && !is_transposed(&layers[i]))))
                    fail_msg("%s: a layer has no kernel", layers[i].name);
                nnrt_model_destroy(model);
            }
    real = sixteen = false;
    assert_true(saved >= 15);
}

static void test_random_layers(void **state)
{
    char number[12], name[128];
    uint32_t saved = 0, count = 0;
    (void)state;
    for (int i = 1; i <= 180; i++) {
        layer l;
        NNRT_Model *model;
        real = i > 120;
        snprintf(number, sizeof(number), "%d", i);
        l = random_layer(number, name, sizeof(name));
        model = model_of(&l);
        saved += compares(model, processors[i % 3], name);
        count += !real || !is_transposed(&l);
        nnrt_model_destroy(model);
    }
    real = plus = extreme = channelsFirst = sixteen = false;
    if (count < 70 || saved * 9 < count * 8)
        fail_msg("only %u of %u layers are saved", saved, count);
}

/* Random networks, whose arenas share bytes of x and y. */
static void test_random_graphs(void **state)
{
    uint32_t saved = 0;
    (void)state;
    for (uint32_t i = 1; i <= 60; i++) {
        nnrt_error e;
        NNRT_Model *model = mcu_random_graph(i, &e);
        char name[32];
        snprintf(name, sizeof(name), "graph:%u", i);
        assert_non_null(model);
        saved += compares(model, processors[i % 3], name);
        nnrt_model_destroy(model);
    }
    if (saved < 10)
        fail_msg("only %u of 60 networks are saved", saved);
}

/* A convolution of x with random weights. */
static uint32_t conv_of(nnrt_builder *b, const char *name, uint32_t x, int32_t c, int32_t o, int32_t taps,
                        int64_t group)
{
    const NNRT_QuantParam param = {8, 4, 0.02 * taps}, scale = {8, 0, 0.003};
    const int32_t filter[4] = {o, taps, taps, c / (int32_t)group};
    int8_t values[1024];
    char text[32];
    NNRT_Conv2DFusion conv;
    uint32_t in[2], y = nnrt_builder_tensor(b, name);
    for (uint32_t i = 0; i < COUNT(values); i++)
        values[i] = (int8_t)dice(-127, 127);
    memset(&conv, 0, sizeof(conv));
    conv.padMode = NNRT_PAD_MODE_SAME;
    conv.group = group;
    nnrt_builder_quant(b, y, &param, 1);
    snprintf(text, sizeof(text), "weights of %s", name);
    in[0] = x;
    in[1] = nnrt_builder_constant(b, text, NNRT_DATA_TYPE_INT8, 4, filter, values, true);
    nnrt_builder_quant(b, in[1], &scale, 1);
    nnrt_builder_node(b, name, NNRT_NODE_TYPE_CONV2D_FUSION, &conv, in, 2, &y, 1);
    return y;
}

/* Several steps: convolution, depthwise convolution, 1x1 convolution, which is read again; two outputs. */
static NNRT_Model *network(void)
{
    const int32_t dims[4] = {1, 9, 7, 3};
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    uint32_t t;
    assert_int_equal(nnrt_builder_create(&b, "network", NULL), NNRT_SUCCESS);
    t = conv_of(b, "first", input(b, "x", 4, dims, 0.05), 3, 10, 3, 1);
    t = conv_of(b, "second", t, 10, 10, 3, 10);
    t = conv_of(b, "third", t, 10, 12, 1, 1);
    nnrt_builder_output(b, conv_of(b, "fourth", t, 12, 12, 5, 12));
    nnrt_builder_output(b, conv_of(b, "fifth", t, 12, 8, 3, 4));
    assert_int_equal(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return model;
}

static image network_file(void)
{
    NNRT_Model *model = network();
    nnrt_error e;
    image file;
    assert_int_equal(save(model, "cortex-m4", &file, &e), NNRT_SUCCESS);
    nnrt_model_destroy(model);
    return file;
}

static void test_network(void **state)
{
    NNRT_Model *model = network();
    image file = network_file();
    nnrt_mcu_program program = opened(&file);
    uint32_t used[8], sizes[3] = {9 * 7 * 3, 9 * 7 * 12, 9 * 7 * 8};
    (void)state;
    assert_true(compares(model, "cortex-m4", "network"));
    assert_string_equal(nnrt_mcu_text(&program, nnrt_mcu_input(&program, 0)->name), "x");
    assert_int_equal(nnrt_mcu_used(&program, used, COUNT(used)), 3);
    assert_int_equal(nnrt_mcu_used(&program, NULL, 0), 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_non_null(nnrt_mcu_kernel_name(used[i]));
    assert_null(nnrt_mcu_kernel_name(0));
    assert_true(nnrt_mcu_takes(&program, 1, 2, sizes));
    assert_false(nnrt_mcu_takes(&program, 2, 1, sizes));
    assert_false(nnrt_mcu_takes(&program, 1, 1, sizes));
    sizes[2]++;
    assert_false(nnrt_mcu_takes(&program, 1, 2, sizes));
    assert_true(nnrt_mcu_is(file.data, file.bytes));
    assert_false(nnrt_mcu_is(file.data, 100));
    fuzz_mcu(file.data, file.bytes);
    free(file.data);
    nnrt_model_destroy(model);
}

/* ---- refused files ---- */

static const layer some[] = {{"conv", CONV, 3, 3, 2, 3, 2, 2, 1, 1},
                             {"grouped", CONV, 3, 4, 4, 4, 1, 2, 1, 2},
                             {"depthwise", DEPTHWISE, 4, 3, 5, 5, 3, 3, 1, 1},
                             {"narrow", DEPTHWISE, 3, 3, 3, 3, 2, 2, 1, 1},
                             {"full", FULL, 1, 1, 7, 5, 1, 1, 1, 1},
                             {"strided", DEPTHWISE, 5, 4, 5, 5, 3, 3, 2, 1},
                             {"add", ADD, 2, 3, 5, 5, 1, 1, 1, 1},
                             {"mul", MUL, 2, 3, 5, 5, 1, 1, 1, 1},
                             {"channels", ADD_CHANNELS, 2, 3, 5, 5, 1, 1, 1, 1},
                             {"maximum", MAXIMUM, 2, 3, 5, 5, 1, 1, 1, 1},
                             {"largest", MAX_POOL, 4, 5, 5, 5, 2, 2, 2, 1},
                             {"average", AVERAGE_POOL, 4, 5, 5, 5, 3, 3, 1, 1},
                             {"mean", MEAN, 3, 3, 6, 6, 1, 1, 1, 1},
                             {"sigmoid", SIGMOID, 2, 3, 5, 5, 1, 1, 1, 1},
                             {"quantize", QUANTIZE, 2, 3, 5, 5, 1, 1, 1, 1},
                             {"dequantize", DEQUANTIZE, 2, 3, 5, 5, 1, 1, 1, 1},
                             {"softmax", SOFTMAX, 1, 2, 9, 9, 1, 1, 1, 1},
                             {"16x8 conv", CONV, 3, 3, 2, 3, 2, 2, 1, 1},
                             {"16x8 long", FULL, 1, 1, 600, 3, 1, 1, 1, 1}, /* sums of 64 bits */
                             {"16x8 depthwise", DEPTHWISE, 4, 3, 5, 5, 3, 3, 1, 1}};
static const layer small = {"small", CONV, 3, 3, 2, 3, 2, 2, 1, 1};

/* Opens bytes in a block of exactly their size. */
static NNRT_ReturnCode code_of(const uint8_t *data, size_t bytes)
{
    return fuzz_mcu_open(data, bytes, nnrt_mcu_all());
}

static void test_cut(void **state)
{
    image file = file_of(&small, "cortex-m4");
    (void)state;
    for (size_t n = 0; n < file.bytes; n++)
        assert_int_equal(code_of(file.data, n), NNRT_INVALID_FILE);
    assert_int_equal(code_of(file.data, file.bytes), NNRT_SUCCESS);
    file.data = (uint8_t *)realloc(file.data, file.bytes + 100); /* more flash than file */
    memset(file.data + file.bytes, 0xFF, 100);
    assert_int_equal(code_of(file.data, file.bytes + 100), NNRT_SUCCESS);
    free(file.data);
}

static void test_damage(void **state)
{
    image file = file_of(&small, "cortex-m4");
    (void)state;
    for (size_t i = 0; i < file.bytes; i++) {
        const uint8_t was = file.data[i];
        for (uint32_t k = 0; k < 3; k++) {
            file.data[i] = k == 0 ? (uint8_t)(was ^ (1u << i % 8)) : k == 1 ? (uint8_t)~was : (uint8_t)(was + 1);
            assert_int_equal(code_of(file.data, file.bytes), NNRT_INVALID_FILE);
        }
        file.data[i] = was;
    }
    free(file.data);
}

/* Opens the file with another word at this place and a right checksum. */
static NNRT_ReturnCode with_word(const image *file, size_t at, uint32_t word)
{
    uint8_t *copy = (uint8_t *)fuzz_block(file->bytes);
    NNRT_ReturnCode code;
    memcpy(copy, file->data, file->bytes);
    fuzz_mcu_word(copy, at, word);
    fuzz_mcu_forge(copy, file->bytes);
    code = code_of(copy, file->bytes);
    free(copy);
    return code;
}

static uint32_t word_of(const image *file, size_t at)
{
    uint32_t word;
    memcpy(&word, file->data + at, sizeof(word));
    return word;
}

static void test_layout_and_processor(void **state)
{
    image file = file_of(&small, "cortex-m4");
    nnrt_mcu_kernels table = *nnrt_mcu_all();
    nnrt_mcu_program program;
    uint8_t *moved = (uint8_t *)fuzz_block(file.bytes + 8);
    (void)state;
    assert_int_equal(with_word(&file, FUZZ_MCU_PLAN, 1), NNRT_SUCCESS);
    assert_int_equal(with_word(&file, FUZZ_MCU_PLAN, 2), NNRT_NOT_SUPPORT);
    assert_int_equal(with_word(&file, FUZZ_MCU_PLAN, 0), NNRT_NOT_SUPPORT);
    table.processor = NNRT_MCU_DSP;
    assert_int_equal(nnrt_mcu_open(&program, file.data, file.bytes, &table), NNRT_SUCCESS);
    table.processor = NNRT_MCU_PLAIN;
    assert_int_equal(nnrt_mcu_open(&program, file.data, file.bytes, &table), NNRT_NOT_SUPPORT);
    table.processor = NNRT_MCU_MVE;
    assert_int_equal(nnrt_mcu_open(&program, file.data, file.bytes, &table), NNRT_NOT_SUPPORT);
    for (size_t shift = 1; shift < 8; shift++) {
        memcpy(moved + shift, file.data, file.bytes);
        assert_int_equal(nnrt_mcu_open(&program, moved + shift, file.bytes, nnrt_mcu_all()), NNRT_INVALID_PARAMETER);
    }
    assert_int_equal(nnrt_mcu_open(NULL, file.data, file.bytes, &table), NNRT_NULL_PTR);
    assert_int_equal(nnrt_mcu_open(&program, NULL, file.bytes, &table), NNRT_NULL_PTR);
    assert_int_equal(nnrt_mcu_open(&program, file.data, file.bytes, NULL), NNRT_NULL_PTR);
    assert_int_equal(nnrt_mcu_run(&program, moved, (void *const *)(void *)moved), NNRT_NULL_PTR);
    free(moved);
    free(file.data);
}

static void test_absent_kernel(void **state)
{
    static const nnrt_mcu_row rows[] = {NNRT_MCU_LINK(conv_dsp_s8), NNRT_MCU_LINK(depthwise_dsp)};
    static const nnrt_mcu_kernels two = {rows, 2, NNRT_MCU_DSP}, none = {NULL, 0, NNRT_MCU_DSP};
    image file = network_file();
    nnrt_mcu_program program;
    (void)state;
    assert_int_equal(nnrt_mcu_open(&program, file.data, file.bytes, &two), NNRT_UNSUPPORTED_OP);
    assert_int_equal(program.step, 1);
    assert_string_equal(nnrt_mcu_kernel_name(program.kernel), "depthwise3_dsp_s8");
    assert_int_equal(nnrt_mcu_open(&program, file.data, file.bytes, &none), NNRT_UNSUPPORTED_OP);
    assert_int_equal(program.step, 0);
    assert_string_equal(nnrt_mcu_kernel_name(program.kernel), "conv_dsp_s8");
    free(file.data);
}

/* A file that was refused has no inputs, outputs and run. */
static void test_not_open(void **state)
{
    static const uint32_t none[1] = {0};
    image file = file_of(&small, "cortex-m4");
    nnrt_mcu_program program;
    uint64_t memory[1];
    void *io[1] = {memory};
    (void)state;
    file.data[FUZZ_MCU_PLAN] ^= 1;
    assert_int_equal(nnrt_mcu_open(&program, file.data, file.bytes, nnrt_mcu_all()), NNRT_INVALID_FILE);
    assert_false(nnrt_mcu_takes(&program, 0, 0, none));
    assert_null(nnrt_mcu_input(&program, 0));
    assert_null(nnrt_mcu_output(&program, 0));
    assert_int_equal(nnrt_mcu_run(&program, memory, io), NNRT_NULL_PTR);
    free(file.data);
}

/* ---- forged files ---- */

/* Places in the section of `small` and similar files of one step, two inputs and outputs. */
enum { PLAN = 128, IO = PLAN + 64, STEP = IO + 2 * 64, ARGS = STEP + 32, ATTR = ARGS + 4 * 12 };

typedef struct forged {
    size_t at;
    int32_t change; /* is added */
    bool opens;
} forged;

static void all_forged(const image *file, const forged *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const NNRT_ReturnCode code = with_word(file, list[i].at, word_of(file, list[i].at) + (uint32_t)list[i].change);
        if ((code == NNRT_SUCCESS) != list[i].opens)
            fail_msg("word %d of the section, changed by %d: %s", (int)(list[i].at - PLAN) / 4, list[i].change,
                     nnrt_code_name(code));
    }
}

#define MEMBER(S, member) (ATTR + offsetof(NNRT_##S, member))
#define MEMBER_3(S, member) (ATTR - 12 + offsetof(NNRT_##S, member)) /* of a step with three arguments */

/* small: x [1,3,3,2], window 2x2, y [1,3,3,3], padding at the ends. Each change must be refused for its own reason;
   some changes are harmless. */
static void test_forged_conv(void **state)
{
    static const forged list[] = {
        {PLAN + 8, -1, false},           /* the arena ends in the scratch */
        {PLAN + 8, 8, true},             /* a larger arena */
        {PLAN + 8, 1 << 29, false},      /* of more than 2^29 bytes */
        {PLAN + 12, 1, false},           /* three inputs and outputs */
        {PLAN + 20, 1, false},           /* a step more */
        {PLAN + 24, -1, false},          /* fewer arguments than the step has */
        {PLAN + 28, -1, false},          /* fewer views */
        {PLAN + 32, 16, false},          /* the first constant is another one */
        {PLAN + 32, 1, false},           /* constants are misaligned */
        {PLAN + 40, 1 << 20, false},     /* a text after the texts */
        {IO, 1, false},                  /* bytes differ from dimensions */
        {IO + 16, 1, false},             /* dimensions differ from bytes */
        {IO + 12, 5, false},             /* rank 9 */
        {IO + 60, 1 << 20, false},       /* a name after the texts */
        {STEP, 100, false},              /* no such kernel */
        {STEP + 4, 2, false},            /* attributes are misaligned */
        {STEP + 4, 1 << 20, false},      /* attributes after the section */
        {STEP + 8, 1, false},            /* the last argument is missing */
        {STEP + 12, 1, false},           /* two inputs */
        {STEP + 20, -1, false},          /* no output */
        {STEP + 24, 8, false},           /* the scratch ends after the arena */
        {STEP + 28, -8, false},          /* the scratch is too small */
        {ARGS, 2, false},                /* x is in the arena, which is too small */
        {ARGS + 4, 1, false},            /* x is an output */
        {ARGS + 8, -1, false},           /* x is too short */
        {ARGS + 12, 100, false},         /* a kind that does not exist */
        {ARGS + 12 + 4, 1 << 20, false}, /* weights after the section */
        {ARGS + 12 + 4, 2, false},       /* weights are misaligned */
        {ARGS + 12 + 8, -4, false},      /* weights are too short */
        {ARGS + 24 + 8, -4, false},      /* the table is too short */
        {ARGS + 24, 2, false},           /* the table is in the arena */
        {ARGS + 36, -4, false},          /* y is a constant */
        {ARGS + 36, -1, false},          /* y is an input */
        {ARGS + 36 + 8, -1, false},      /* y is too short */
        {MEMBER(McuConv, n), 1, false},
        {MEMBER(McuConv, n), -1, false},
        {MEMBER(McuConv, h), 1, false},
        {MEMBER(McuConv, h), -1, true},
        {MEMBER(McuConv, w), 1, false},
        {MEMBER(McuConv, c), 1, false},
        {MEMBER(McuConv, groups), 1, false},
        {MEMBER(McuConv, xh), 1, false},
        {MEMBER(McuConv, xh), -7, false},
        {MEMBER(McuConv, xw), 1, false},
        {MEMBER(McuConv, xc), 1, false},
        {MEMBER(McuConv, p), 1, false},
        {MEMBER(McuConv, p), -1, true},
        {MEMBER(McuConv, p), -3, false},
        {MEMBER(McuConv, q), 1, false},
        {MEMBER(McuConv, o), 1, false},
        {MEMBER(McuConv, o), -1, true},
        {MEMBER(McuConv, yh), 1, false},
        {MEMBER(McuConv, yw), 1, false},
        {MEMBER(McuConv, yc), 1, false},
        {MEMBER(McuConv, kh), 2, false},
        {MEMBER(McuConv, kw), 1, false},
        {MEMBER(McuConv, sh), 5, true},
        {MEMBER(McuConv, sh), -2, false},
        {MEMBER(McuConv, sh), 1 << 30, false},
        {MEMBER(McuConv, dh), 1 << 30, false},
        {MEMBER(McuConv, dw), -2, false},
        {MEMBER(McuConv, top), 1, true},
        {MEMBER(McuConv, top), 1 << 30, false},
        {MEMBER(McuConv, left), -(1 << 30), false},
        {MEMBER(McuConv, left), -1, true},
        {MEMBER(McuConv, dw), 1, true},
        {MEMBER(McuConv, late), 1, false}, /* the scratch has no ring */
        {MEMBER(McuConv, late), -1, false},
        {MEMBER(McuConv, late), 1 << 30, false},
        {MEMBER(McuConv, reverse), 1, true},
        {MEMBER(McuConv, words), 4, false},
        {MEMBER(McuConv, words), -1, false},
        {MEMBER(McuConv, words), -4, false},
        {MEMBER(McuConv, zero), 1 << 20, false},
        {MEMBER(McuConv, lo), 1, true},
        {MEMBER(McuConv, xZero), 1000, true},
    };
    image file = file_of(&small, "cortex-m4");
    (void)state;
    all_forged(&file, list, COUNT(list));
    free(file.data);
}

static void test_forged_depthwise(void **state)
{
    static const layer depthwise = {"depthwise", DEPTHWISE, 4, 4, 6, 6, 3, 3, 1, 1};
    static const forged list[] = {
        {MEMBER_3(McuDepthwise, n), 1, false},
        {MEMBER_3(McuDepthwise, h), 1, false},
        {MEMBER_3(McuDepthwise, h), -1, true},
        {MEMBER_3(McuDepthwise, w), 1, false},
        {MEMBER_3(McuDepthwise, c), 1, false},
        {MEMBER_3(McuDepthwise, c), -1, true},
        {MEMBER_3(McuDepthwise, c), -6, false},
        {MEMBER_3(McuDepthwise, xh), 1, false},
        {MEMBER_3(McuDepthwise, xw), 1, false},
        {MEMBER_3(McuDepthwise, xw), -7, false},
        {MEMBER_3(McuDepthwise, p), 1, false},
        {MEMBER_3(McuDepthwise, q), -1, true},
        {MEMBER_3(McuDepthwise, yh), 1, false},
        {MEMBER_3(McuDepthwise, yw), 1, false},
        {MEMBER_3(McuDepthwise, kh), 1, true}, /* the kernel has 3 x 3 taps anyway */
        {MEMBER_3(McuDepthwise, sh), 3, true},
        {MEMBER_3(McuDepthwise, dh), 1, true},
        {MEMBER_3(McuDepthwise, dh), 1 << 28, false},
        {MEMBER_3(McuDepthwise, dw), -2, false},
        {MEMBER_3(McuDepthwise, top), -1, true},
        {MEMBER_3(McuDepthwise, top), 1 << 30, false},
        {MEMBER_3(McuDepthwise, left), -2, false},
        {MEMBER_3(McuDepthwise, late), 1, false}, /* the scratch has no ring */
        {MEMBER_3(McuDepthwise, late), -1, false},
        {MEMBER_3(McuDepthwise, c), -3, false},    /* fewer than four channels */
        {STEP + 28, -8, false},                    /* scratch */
    };
    image file = file_of(&depthwise, "cortex-m4");
    (void)state;
    all_forged(&file, list, COUNT(list));
    free(file.data);
}

static void test_forged_strided(void **state)
{
    static const layer depthwise = {"depthwise", DEPTHWISE, 4, 4, 6, 6, 3, 3, 2, 1};
    static const forged list[] = {
        {MEMBER_3(McuDepthwise, h), 1, false},
        {MEMBER_3(McuDepthwise, c), -1, true},
        {MEMBER_3(McuDepthwise, c), -3, false},  /* the kernel has four channels or more .. */
        {MEMBER_3(McuDepthwise, kh), -1, false}, /* .. and 3 x 3 taps */
        {MEMBER_3(McuDepthwise, kw), 1, false},
        {MEMBER_3(McuDepthwise, sh), 3, true},
        {MEMBER_3(McuDepthwise, p), 1, false},
        {MEMBER_3(McuDepthwise, dw), 1 << 28, false},
        {ARGS + 12 + 8, -4, false}, /* weights are too short */
        {ARGS + 12, 2, false},      /* weights and their shifts are in the arena */
        {STEP + 28, -8, false},     /* scratch */
    };
    image file = file_of(&depthwise, "cortex-m4");
    (void)state;
    all_forged(&file, list, COUNT(list));
    free(file.data);
}

/* 4x4 pixels of 5 channels, windows 2x2 at distance 2, without padding. */
static void test_forged_pool(void **state)
{
    static const layer pool = {"largest", MAX_POOL, 4, 4, 5, 5, 2, 2, 2, 1};
    static const size_t attr = ATTR - 24; /* two arguments */
    image file = file_of(&pool, "cortex-m4");
    const struct {
        size_t member;
        int32_t change;
        bool opens;
    } list[] = {
        {offsetof(NNRT_McuPool, n), 1, false},
        {offsetof(NNRT_McuPool, h), 1, false},
        {offsetof(NNRT_McuPool, h), -1, true},
        {offsetof(NNRT_McuPool, h), -2, false}, /* a window below x */
        {offsetof(NNRT_McuPool, w), -2, false},
        {offsetof(NNRT_McuPool, c), -1, true},
        {offsetof(NNRT_McuPool, c), -2, false},
        {offsetof(NNRT_McuPool, top), 1, true},
        {offsetof(NNRT_McuPool, top), 2, false},
        {offsetof(NNRT_McuPool, left), -2, false},
        {offsetof(NNRT_McuPool, kh), 100, true},
        {offsetof(NNRT_McuPool, kh), -2, false},
        {offsetof(NNRT_McuPool, p), 1, false},
        {offsetof(NNRT_McuPool, mapped), 1, false},
        {offsetof(NNRT_McuPool, shift), 32, false},
        {offsetof(NNRT_McuPool, yw), 1, false},
    };
    (void)state;
    for (uint32_t i = 0; i < COUNT(list); i++) {
        const forged one = {attr + list[i].member, list[i].change, list[i].opens};
        all_forged(&file, &one, 1);
    }
    free(file.data);
}

/* With one row of taps, a dilation reaches no other row; its product with the stride of rows must fit an int32 all the
   same. */
static void test_forged_dilation(void **state)
{
    static const layer depthwise = {"depthwise", DEPTHWISE, 4, 4, 4, 4, 2, 2, 1, 1};
    image file = file_of(&depthwise, "cortex-m4");
    (void)state;
    fuzz_mcu_word(file.data, MEMBER_3(McuDepthwise, kh), 1);
    assert_int_equal(with_word(&file, MEMBER_3(McuDepthwise, dh), 1), NNRT_SUCCESS);
    assert_int_equal(with_word(&file, MEMBER_3(McuDepthwise, dh), 1 << 20), NNRT_SUCCESS);
    assert_int_equal(with_word(&file, MEMBER_3(McuDepthwise, dh), 1 << 28), NNRT_INVALID_FILE);
    free(file.data);
}

/* A shift of 32 or -1 in the requantization table. */
static void test_forged_table(void **state)
{
    image file = file_of(&small, "cortex-m4");
    const size_t table = PLAN + word_of(&file, PLAN + 32) + word_of(&file, ARGS + 24 + 4);
    (void)state;
    assert_int_equal(with_word(&file, table + 8, 31), NNRT_SUCCESS);
    assert_int_equal(with_word(&file, table + 8, 32), NNRT_INVALID_FILE);
    assert_int_equal(with_word(&file, table + 3 * 12 + 8, 0xFFFFFFFF), NNRT_INVALID_FILE);
    assert_int_equal(with_word(&file, table + 4, 0x80000000), NNRT_SUCCESS);
    free(file.data);
}

/* Opens the file with each word of its section changed: before the constants to each of these values, and to values near its
   own; then pairs of words take random ones. An open file runs, under the sanitizers. */
static void every_word(image *file, uint32_t *opens, uint32_t *refused)
{
    static const uint32_t values[] = {0,          1,          2,          3,          5,          12,
                                      16,         255,        65535,      0x0FFFFFFF, 0x1FFFFFFF, 0x20000000,
                                      0x3FFFFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    const size_t constants = PLAN + word_of(file, PLAN + 32);
    const int words = (int)(constants - PLAN) / 4;
    for (size_t at = PLAN; at < file->bytes; at += 4)
        for (uint32_t i = at < constants ? 0 : 13; i < COUNT(values) + (at < constants ? 8u : 0u); i++) {
            const uint32_t near = word_of(file, at) + i - COUNT(values) - 4u;
            *(with_word(file, at, i < COUNT(values) ? values[i] : near) == NNRT_SUCCESS ? opens : refused) += 1;
        }
    for (uint32_t i = 0; i < 4000; i++) {
        const size_t at = STEP + 4 * (size_t)dice(0, words - (STEP - PLAN) / 4 - 1);
        const size_t other = PLAN + 4 * (size_t)dice(0, words - 1);
        const uint32_t was = word_of(file, at);
        fuzz_mcu_word(file->data, at, dice(0, 1) ? (uint32_t)dice(0, 9) : values[dice(0, (int)COUNT(values) - 1)]);
        *(with_word(file, other, word_of(file, other) + (uint32_t)dice(-4, 4)) == NNRT_SUCCESS ? opens : refused) += 1;
        fuzz_mcu_word(file->data, at, was);
    }
}

/* MATMUL_NBITS with three rows of x and five results. zero: 0: no zero points; 1: packed; 2: float32. level: accuracyLevel. */
static NNRT_Model *nbits_of(int64_t columns, int64_t bits, int64_t block, int zero, bool bias, int64_t level)
{
    const int32_t blocks = (int32_t)((columns + block - 1) / block), x[2] = {3, (int32_t)columns}, five = 5;
    const int32_t weight[3] = {5, blocks, (int32_t)(block * bits / 8)}, scale[2] = {5, blocks};
    const int32_t packed[2] = {5, (int32_t)((blocks * bits + 7) / 8)};
    uint8_t bytes[2048];
    float numbers[128];
    NNRT_MatMulNBits attr = {0, 0, 0, 0, 0};
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    uint32_t in[5] = {0, 0, 0, NNRT_NO_TENSOR, NNRT_NO_TENSOR};
    for (uint32_t i = 0; i < COUNT(bytes); i++)
        bytes[i] = (uint8_t)dice(0, 255);
    for (uint32_t i = 0; i < COUNT(numbers); i++)
        numbers[i] = (float)dice(-999, 999) * 0.37f;
    attr.columns = columns;
    attr.bits = bits;
    attr.blockSize = block;
    attr.accuracyLevel = level;
    assert_int_equal(nnrt_builder_create(&b, "nbits", NULL), NNRT_SUCCESS);
    in[0] = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 2, x);
    in[1] = nnrt_builder_constant(b, "weight", NNRT_DATA_TYPE_UINT8, 3, weight, bytes, true);
    in[2] = nnrt_builder_constant(b, "scale", NNRT_DATA_TYPE_FLOAT32, 2, scale, numbers, true);
    if (zero == 1)
        in[3] = nnrt_builder_constant(b, "zero", NNRT_DATA_TYPE_UINT8, 2, packed, bytes + 7, true);
    else if (zero == 2)
        in[3] = nnrt_builder_constant(b, "zero", NNRT_DATA_TYPE_FLOAT32, 2, scale, numbers + 8, true);
    if (bias)
        in[4] = nnrt_builder_constant(b, "bias", NNRT_DATA_TYPE_FLOAT32, 1, &five, numbers + 3, true);
    nnrt_builder_output(b, nnrt_builder_op(b, "y", NNRT_NODE_TYPE_MATMUL_NBITS, &attr, in, 5));
    assert_int_equal(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
    nnrt_builder_destroy(b);
    return model;
}

/* MATMUL_NBITS on each target, with the bits of the reference device: bits, zero points, bias, a last block that is cut. */
static void test_nbits(void **state)
{
    (void)state;
    for (int64_t bits = 2; bits <= 8; bits *= 2)
        for (int zero = 0; zero < 3; zero++)
            for (int bias = 0; bias < 2; bias++)
                for (uint32_t k = 0; nnrt_mcu_target(k) != NULL; k++) {
                    for (int64_t level = 0; level <= 4; level += 4) {
                        NNRT_Model *model = nbits_of(zero == 1 ? 64 : 70, bits, bias ? 16 : 32, zero, bias != 0, level);
                        if (level == 0 || bits > 2)
                            assert_true(compares(model, nnrt_mcu_target(k), "nbits"));
                        nnrt_model_destroy(model);
                    }
                }
}

/* A forged attribute of MATMUL_NBITS in a plan with packed zero points and bias: one more of anything is outside an argument.
   Of x rounded to int8: of entries of 2 bits there is no kernel, and 48 is also outside the scratch. */
static void check_forged_nbits(int64_t level)
{
    const struct {
        size_t member;
        int32_t value;
        bool opens;
    } list[] = {
        {offsetof(NNRT_McuNbits, rows), 4, false},
        {offsetof(NNRT_McuNbits, rows), 2, true},
        {offsetof(NNRT_McuNbits, rows), 0, false},
        {offsetof(NNRT_McuNbits, n), 6, false},
        {offsetof(NNRT_McuNbits, n), 4, true},
        {offsetof(NNRT_McuNbits, n), -1, false},
        {offsetof(NNRT_McuNbits, columns), 65, false}, /* one more block */
        {offsetof(NNRT_McuNbits, columns), 63, true},
        {offsetof(NNRT_McuNbits, columns), 0, false},
        {offsetof(NNRT_McuNbits, columns), INT32_MAX, false},
        {offsetof(NNRT_McuNbits, blockSize), 48,
         false}, /* fewer and longer blocks: 5 * 2 * 24 bytes instead of 5 * 4 * 8 */
        {offsetof(NNRT_McuNbits, blockSize), 0, false},
        {offsetof(NNRT_McuNbits, blockSize), 8, false},
        {offsetof(NNRT_McuNbits, blockSize), 20, false},
        {offsetof(NNRT_McuNbits, blockSize), -16, false},
        {offsetof(NNRT_McuNbits, blockSize), 1 << 20, false},
        {offsetof(NNRT_McuNbits, bits), 8, false},
        {offsetof(NNRT_McuNbits, bits), 2, level == 0},
        {offsetof(NNRT_McuNbits, bits), 0, false},
        {offsetof(NNRT_McuNbits, bits), 3, false},
        {offsetof(NNRT_McuNbits, zero), 2, false}, /* float32 has more bytes */
        {offsetof(NNRT_McuNbits, zero), 3, false},
        {offsetof(NNRT_McuNbits, zero), 0, false}, /* one argument less */
        {offsetof(NNRT_McuNbits, bias), 0, false},
        {offsetof(NNRT_McuNbits, bias), 2, false},
    };
    NNRT_Model *model = nbits_of(64, 4, 16, 1, true, level);
    nnrt_error e;
    image file;
    size_t attr;
    assert_int_equal(save(model, "cortex-m4", &file, &e), NNRT_SUCCESS);
    attr = PLAN + word_of(&file, IO + 64 * (size_t)(word_of(&file, PLAN + 12) + word_of(&file, PLAN + 16)) + 4);
    assert_int_equal(word_of(&file, attr + offsetof(NNRT_McuNbits, blockSize)), 16);
    for (uint32_t i = 0; i < COUNT(list); i++) {
        const NNRT_ReturnCode code = with_word(&file, attr + list[i].member, (uint32_t)list[i].value);
        if (code != (list[i].opens ? NNRT_SUCCESS : NNRT_INVALID_FILE))
            fail_msg("word %u, value %d: code %d", (unsigned)list[i].member, (int)list[i].value, (int)code);
    }
    free(file.data);
    nnrt_model_destroy(model);
}

static void test_forged_nbits(void **state)
{
    (void)state;
    check_forged_nbits(0);
    check_forged_nbits(4);
}

/* All kernels: these layers in int8, uint8 and float32, or in int16, on a target of each processor, also with the other
   kernels that take the same arguments. */
static void test_every_word(void **state)
{
    bool seen[256] = {false};
    uint32_t opens = 0, refused = 0;
    (void)state;
    for (uint32_t k = 0; k < 9 * COUNT(some); k++) {
        const layer *l = &some[k / 9];
        NNRT_Model *model;
        nnrt_error e;
        image file;
        sixteen = strncmp(l->name, "16x8 ", 5) == 0;
        real = k % 3 == 2;
        plus = extreme = k % 3 == 1 && !sixteen;
        if (real && (is_cast(l) || sixteen))
            continue;
        model = model_of(l);
        if (save(model, processors[k / 3 % 3], &file, &e) == NNRT_SUCCESS)
            for (uint32_t i = 1; nnrt_mcu_kernel_name(i) != NULL; i++) {
                const size_t step = IO + 64 * (size_t)(word_of(&file, PLAN + 12) + word_of(&file, PLAN + 16));
                if ((seen[i] && k % 9 != 0) || with_word(&file, step, i) != NNRT_SUCCESS)
                    continue;
                seen[i] = true;
                fuzz_mcu_word(file.data, step, i);
                every_word(&file, &opens, &refused);
            }
        free(file.data);
        nnrt_model_destroy(model);
    }
    real = plus = extreme = sixteen = false;
    for (int k = 0; k < 6; k++) {
        const int zero = k / 2;
        NNRT_Model *model = nbits_of(70, 4, 32, zero, zero > 0, k % 2 * 4);
        nnrt_error e;
        image file;
        assert_int_equal(save(model, processors[zero], &file, &e), NNRT_SUCCESS);
        every_word(&file, &opens, &refused);
        seen[k % 2 == 0 ? NNRT_MCU_NUMBER_matmul_nbits : NNRT_MCU_NUMBER_matmul_nbits_int8] = true;
        free(file.data);
        nnrt_model_destroy(model);
    }
    assert_true(opens > 1000 && refused > 10000);
    for (uint32_t i = 1; nnrt_mcu_kernel_name(i) != NULL; i++)
        if (!seen[i])
            fail_msg("no file has kernel %s", nnrt_mcu_kernel_name(i));
}

/* The number of steps of the file with a ring of late rows (nnrt_mcu.h, >>rows), whose results overwrite inputs. */
static uint32_t rings(const image *file)
{
    const size_t steps = IO + 64 * (size_t)(word_of(file, PLAN + 12) + word_of(file, PLAN + 16));
    uint32_t count = 0;
    for (uint32_t i = 0; i < word_of(file, PLAN + 20); i++) {
        const size_t step = steps + 32 * (size_t)i, attr = PLAN + word_of(file, step + 4);
        const char *name = nnrt_mcu_kernel_name(word_of(file, step));
        const bool depthwise = strncmp(name, "depthwise", 9) == 0;
        const size_t late = depthwise ? offsetof(NNRT_McuDepthwise, late) : offsetof(NNRT_McuConv, late);
        count += word_of(file, attr + late) != 0;
    }
    return count;
}

/* Convolutions that overwrite their input, with each word changed. */
static void test_every_word_of_rings(void **state)
{
    const int32_t dims[4] = {1, 10, 8, 4};
    (void)state;
    for (uint32_t k = 0; k < COUNT(processors); k++) {
        uint32_t opens = 0, refused = 0, t;
        nnrt_builder *b = NULL;
        NNRT_Model *model = NULL;
        nnrt_error e;
        image file;
        assert_int_equal(nnrt_builder_create(&b, "rings", NULL), NNRT_SUCCESS);
        t = conv_of(b, "first", input(b, "x", 4, dims, 0.05), 4, 4, 3, 1);
        t = conv_of(b, "second", t, 4, 4, 3, 1);
        t = conv_of(b, "third", t, 4, 4, 3, 4);
        nnrt_builder_output(b, conv_of(b, "fourth", t, 4, 3, 1, 1));
        assert_int_equal(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
        nnrt_builder_destroy(b);
        assert_true(compares(model, processors[k], "rings"));
        assert_int_equal(save(model, processors[k], &file, &e), NNRT_SUCCESS);
        assert_int_equal(rings(&file), 2); /* the second and the third */
        every_word(&file, &opens, &refused);
        assert_true(opens > 100 && refused > 1000);
        free(file.data);
        nnrt_model_destroy(model);
    }
}

/* RESHAPE between input and output of the model is a copy to another shape. */
static void test_reshapes(void **state)
{
    static const int64_t shapes[][4] = {{3, 2}, {6, 1}, {1, 6}, {2, 1, 3}, {6}, {1, 2, 3, 1}};
    static const int32_t ranks[] = {2, 2, 2, 3, 1, 4}, dims[2] = {2, 3};
    static const NNRT_DataType types[] = {NNRT_DATA_TYPE_INT8, NNRT_DATA_TYPE_FLOAT32, NNRT_DATA_TYPE_FLOAT64};
    (void)state;
    for (uint32_t i = 0; i < COUNT(ranks) * COUNT(types); i++) {
        const uint32_t k = i / COUNT(types);
        nnrt_builder *b = NULL;
        NNRT_Model *model = NULL;
        uint32_t in[2], y;
        int32_t result[4];
        assert_int_equal(nnrt_builder_create(&b, "reshape", NULL), NNRT_SUCCESS);
        for (int32_t n = 0; n < ranks[k]; n++)
            result[n] = (int32_t)shapes[k][n];
        in[0] = nnrt_builder_input(b, "x", types[i % COUNT(types)], 2, dims);
        in[1] = nnrt_builder_constant(b, "shape", NNRT_DATA_TYPE_INT64, 1, &ranks[k], shapes[k], true);
        y = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_RESHAPE, NULL, in, 2);
        nnrt_builder_declare(b, y, types[i % COUNT(types)], ranks[k], result);
        nnrt_builder_output(b, y);
        assert_int_equal(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
        assert_true(compares(model, processors[i % 3], "a reshape"));
        nnrt_model_destroy(model);
        nnrt_builder_destroy(b);
    }
}

/* ---- refused models ---- */

static void test_not_saved(void **state)
{
    const int32_t dims[2] = {2, 3};
    nnrt_builder *b = NULL;
    NNRT_Model *model = NULL;
    nnrt_error e;
    image file;
    uint32_t x;
    (void)state;
    assert_int_equal(nnrt_builder_create(&b, "floats", NULL), NNRT_SUCCESS);
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT64, 2, dims);
    nnrt_builder_output(b, nnrt_builder_op(b, "the node", NNRT_NODE_TYPE_ERF, NULL, &x, 1));
    assert_int_equal(nnrt_builder_finish(b, &model, NULL), NNRT_SUCCESS);
    assert_int_equal(save(model, "cortex-m4", &file, &e), NNRT_NOT_SUPPORT);
    if (strstr(e.message, "'the node' (ERF) has kernel nnrt_erf") == NULL)
        fail_msg("%s", e.message);
    nnrt_model_destroy(model);
    nnrt_builder_destroy(b);
}

/* A file for firmware is no model, and the message says so. */
static void test_no_model(void **state)
{
    image file = file_of(&small, "cortex-m4");
    NNRT_Model *model = NULL;
    nnrt_error e;
    (void)state;
    memset(&e, 0, sizeof(e));
    assert_int_equal(nnrt_model_load_memory(&model, file.data, file.bytes, NULL, &e), NNRT_INVALID_FILE);
    assert_non_null(strstr(e.message, "is a plan for firmware"));
    free(file.data);
}

/* ---- */

/* Models of files: compares each, or prints that it cannot be saved. */
static int compare_files(int count, char **paths)
{
    for (int i = 0; i < count; i++) {
        NNRT_Model *model = NULL;
        nnrt_error e;
        memset(&e, 0, sizeof(e));
        if (nnrt_model_load(&model, paths[i], NULL, &e) != NNRT_SUCCESS)
            return fprintf(stderr, "%s: %s\n", paths[i], e.message), 1;
        printf("%s %s\n", paths[i], compares(model, "cortex-m4", paths[i]) ? "equal" : "not saved");
        nnrt_model_destroy(model);
    }
    return 0;
}

static bool write_file(const char *folder, const char *name, const char *target, image *file)
{
    char path[256];
    FILE *f;
    bool done;
    snprintf(path, sizeof(path), "%s/%s %s%s", folder, name, target, real ? " float32" : "");
    f = fopen(path, "wb");
    done = f != NULL && fwrite(file->data, 1, file->bytes, f) == file->bytes;
    if (f != NULL)
        done = fclose(f) == 0 && done;
    free(file->data);
    return done;
}

static int write_files(const char *folder)
{
    image file = network_file();
    bool done = write_file(folder, "network", "cortex-m4", &file);
    for (uint32_t k = 0; k < 6 * COUNT(some) && done; k++) {
        const layer *l = &some[k / 6];
        const char *target = processors[k % 3];
        NNRT_Model *model;
        nnrt_error e;
        real = k % 6 >= 3;
        if (real && is_cast(l))
            continue;
        model = model_of(l);
        if (save(model, target, &file, &e) == NNRT_SUCCESS)
            done = write_file(folder, l->name, target, &file);
        nnrt_model_destroy(model);
    }
    return !done;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_random_layers),
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_layout_and_processor),
        cmocka_unit_test(test_not_open),
        cmocka_unit_test(test_absent_kernel),
        cmocka_unit_test(test_forged_conv),
        cmocka_unit_test(test_forged_depthwise),
        cmocka_unit_test(test_forged_strided),
        cmocka_unit_test(test_forged_pool),
        cmocka_unit_test(test_forged_dilation),
        cmocka_unit_test(test_nbits),
        cmocka_unit_test(test_forged_nbits),
        cmocka_unit_test(test_forged_table),
        cmocka_unit_test(test_every_word),
        cmocka_unit_test(test_every_word_of_rings),
        cmocka_unit_test(test_reshapes),
        cmocka_unit_test(test_not_saved),
        cmocka_unit_test(test_no_model),
    };
    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        return write_files(argv[2]);
    return argc > 1 ? compare_files(argc - 1, argv + 1) : cmocka_run_group_tests(tests, NULL, NULL);
}
