/* Fuzz target: the bytes are a plan for firmware (devices/nnrt_mcu.h, >>program). Length, checksum and layout are
   corrected, so that the records reach the checks of the loader and of the kernels; an open file runs in memory, inputs
   and outputs of exactly the bytes that it states. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef FUZZ_INCLUDED
#define NNRT_IMPLEMENTATION
#endif
#include "nnrt.h"

#include "devices/nnrt_mcu.h"
#include "fuzz.h"

#define FUZZ_MCU_BYTES ((size_t)1 << 16) /* maximum of memory, an input or an output of a file that is run */
#define FUZZ_MCU_IO 16

/* Offsets in a file: header, row of the section table, section. */
enum { FUZZ_MCU_SIZE = 16, FUZZ_MCU_SUM = 24, FUZZ_MCU_ROW = 64, FUZZ_MCU_PLAN = 128, FUZZ_MCU_LEAST = 192 };

static void fuzz_mcu_word(uint8_t *file, size_t at, uint32_t word)
{
    memcpy(file + at, &word, sizeof(word));
}

/* The header and the section table of a file of `size` bytes, but for its first 8, and its checksum: FNV-1a-64. */
static void fuzz_mcu_forge(uint8_t *file, size_t size)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    const uint64_t bytes = size, plan = size - FUZZ_MCU_PLAN, at = FUZZ_MCU_PLAN;
    memset(file + 8, 0, FUZZ_MCU_PLAN - 8);
    fuzz_mcu_word(file, 8, 1);
    fuzz_mcu_word(file, 12, 64);
    memcpy(file + FUZZ_MCU_SIZE, &bytes, sizeof(bytes));
    fuzz_mcu_word(file, 32, 1);
    fuzz_mcu_word(file, 36, 40);
    fuzz_mcu_word(file, FUZZ_MCU_ROW, 10);
    fuzz_mcu_word(file, FUZZ_MCU_ROW + 4, 1);
    memcpy(file + FUZZ_MCU_ROW + 8, &at, sizeof(at));
    memcpy(file + FUZZ_MCU_ROW + 16, &plan, sizeof(plan));
    fuzz_mcu_word(file, FUZZ_MCU_ROW + 24, 64);
    fuzz_mcu_word(file, FUZZ_MCU_ROW + 28, 1);
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ (i >= FUZZ_MCU_SUM && i < FUZZ_MCU_SUM + 8 ? 0u : file[i])) * UINT64_C(1099511628211);
    memcpy(file + FUZZ_MCU_SUM, &sum, sizeof(sum));
}

static uint32_t fuzz_mcu_word_at(const uint8_t *at, size_t word)
{
    uint32_t value;
    memcpy(&value, at + 4 * word, sizeof(value));
    return value;
}

/* A block with a copy of these bytes; NULL: with other contents. */
static void *fuzz_mcu_copy(const uint8_t *from, size_t bytes)
{
    uint8_t *block = (uint8_t *)fuzz_block(bytes);
    if (from != NULL && bytes > 0)
        memcpy(block, from, bytes);
    return block;
}

/* Runs a step with its attributes, its scratch and each argument in a separate block of exactly its bytes: in an open
   file they are adjacent. plan: the section; step, args: the records. */
static void fuzz_mcu_step_apart(const uint8_t *plan, const uint8_t *step, const uint8_t *args)
{
    const uint32_t count = fuzz_mcu_word_at(step, 3) + fuzz_mcu_word_at(step, 4) + fuzz_mcu_word_at(step, 5);
    const nnrt_mcu_row *row = nnrt_mcu_all()->rows;
    nnrt_view *views = (nnrt_view *)fuzz_block(count * sizeof(*views));
    nnrt_call call;
    void *attr;
    memset(&call, 0, sizeof(call));
    while (row->number != fuzz_mcu_word_at(step, 0))
        row++;
    call.scratchBytes = fuzz_mcu_word_at(step, 7);
    call.scratch = fuzz_block(call.scratchBytes);
    attr = fuzz_mcu_copy(plan + fuzz_mcu_word_at(step, 1), row->attrBytes);
    for (uint32_t k = 0; k < count; k++, args += 12) {
        const bool constant = fuzz_mcu_word_at(args, 0) == NNRT_PLACE_CONSTANT;
        const uint8_t *at = plan + fuzz_mcu_word_at(plan, 8) + fuzz_mcu_word_at(args, 1);
        views[k].data = fuzz_mcu_copy(constant ? at : NULL, fuzz_mcu_word_at(args, 2));
    }
    (void)row->run(attr, views, &call);
    for (uint32_t k = 0; k < count; k++)
        free(views[k].data);
    free(attr);
    free(call.scratch);
    free(views);
}

/* Runs all steps of an open file in this way. */
static void fuzz_mcu_apart(const uint8_t *file)
{
    const uint8_t *plan = file + FUZZ_MCU_PLAN;
    const uint32_t nSteps = fuzz_mcu_word_at(plan, 5);
    const uint8_t *steps = plan + 64 + 64 * (size_t)(fuzz_mcu_word_at(plan, 3) + fuzz_mcu_word_at(plan, 4));
    const uint8_t *args = steps + 32 * (size_t)nSteps;
    for (uint32_t i = 0; i < nSteps; i++, steps += 32)
        fuzz_mcu_step_apart(plan, steps, args + 12 * (size_t)fuzz_mcu_word_at(steps, 2));
}

/* Runs an open file, unless it needs much memory. The second run finds the arena of the first one. */
static void fuzz_mcu_run(const nnrt_mcu_program *program, const uint8_t *file)
{
    void *io[FUZZ_MCU_IO], *memory;
    uint32_t count = 0;
    bool small = program->memoryBytes <= FUZZ_MCU_BYTES;
    const nnrt_mcu_io *t;
    for (uint32_t i = 0; (t = nnrt_mcu_input(program, i)) != NULL; i++, count++)
        small = small && t->bytes <= FUZZ_MCU_BYTES && count < FUZZ_MCU_IO;
    for (uint32_t i = 0; (t = nnrt_mcu_output(program, i)) != NULL; i++, count++)
        small = small && t->bytes <= FUZZ_MCU_BYTES && count < FUZZ_MCU_IO;
    if (!small)
        return;
    count = 0;
    for (uint32_t i = 0; (t = nnrt_mcu_input(program, i)) != NULL; i++)
        io[count++] = fuzz_block(t->bytes);
    for (uint32_t i = 0; (t = nnrt_mcu_output(program, i)) != NULL; i++)
        io[count++] = fuzz_block(t->bytes);
    memory = fuzz_block(program->memoryBytes);
    (void)nnrt_mcu_run(program, memory, io);
    (void)nnrt_mcu_run(program, memory, io);
    free(memory);
    while (count > 0)
        free(io[--count]);
    fuzz_mcu_apart(file);
}

/* Opens a file, whose bytes are only read, and runs it; returns the code of opening. */
static NNRT_ReturnCode fuzz_mcu_open(const uint8_t *data, size_t size, const nnrt_mcu_kernels *kernels)
{
    uint8_t *file = (uint8_t *)fuzz_block(size);
    nnrt_mcu_program program;
    NNRT_ReturnCode code;
    if (size > 0)
        memcpy(file, data, size);
    code = nnrt_mcu_open(&program, file, size, kernels);
    fuzz_expect((program.plan != NULL) == (code == NNRT_SUCCESS), "only an open file has a plan", NULL);
    fuzz_expect(code == NNRT_SUCCESS || code == NNRT_INVALID_FILE || code == NNRT_NOT_SUPPORT ||
                    code == NNRT_UNSUPPORTED_OP,
                "a file is refused for a reason of a file", nnrt_code_name(code));
    if (code == NNRT_SUCCESS) {
        for (uint32_t i = 0; nnrt_mcu_input(&program, i) != NULL; i++)
            (void)strlen(nnrt_mcu_text(&program, nnrt_mcu_input(&program, i)->name));
        fuzz_mcu_run(&program, file);
    }
    fuzz_expect(size == 0 || memcmp(file, data, size) == 0, "a file is only read", NULL);
    free(file);
    return code;
}

static void fuzz_mcu(const uint8_t *data, size_t size)
{
    uint8_t *file;
    (void)fuzz_mcu_open(data, size, nnrt_mcu_all());
    if (size < FUZZ_MCU_LEAST)
        return;
    file = (uint8_t *)fuzz_block(size);
    memcpy(file, data, size);
    memcpy(file, "\x89NNRT\r\n\x1A", 8);
    fuzz_mcu_forge(file, size);
    (void)fuzz_mcu_open(file, size, nnrt_mcu_all());
    fuzz_mcu_word(file, FUZZ_MCU_PLAN, 1); /* the layout */
    fuzz_mcu_forge(file, size);
    (void)fuzz_mcu_open(file, size, nnrt_mcu_all());
    free(file);
}

/* ---- changes of words, which keep their positions ---- */

#if !defined(FUZZ_INCLUDED) && !defined(__AFL_COMPILER)
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);

static uint32_t fuzz_mcu_draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(*state >> 8) * below >> 24);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
    static const uint32_t borders[] = {0,   1,    2,          3,          4,          8,          16,        64,
                                       127, 0xFF, 0x1FFFFFFF, 0x20000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    uint32_t state = seed, count = 1 + fuzz_mcu_draw(&state, 4);
    if (size < FUZZ_MCU_LEAST || fuzz_mcu_draw(&state, 12) == 0)
        return LLVMFuzzerMutate(data, size, most);
    for (; count > 0; count--) { /* mostly the first records */
        const uint32_t words = (uint32_t)(size < 1024 || fuzz_mcu_draw(&state, 8) == 0 ? size - 128 : 640) / 4;
        const size_t at = FUZZ_MCU_PLAN + 4 * (size_t)fuzz_mcu_draw(&state, words);
        uint32_t word;
        memcpy(&word, data + at, sizeof(word));
        switch (fuzz_mcu_draw(&state, 5)) {
        case 0: word = borders[fuzz_mcu_draw(&state, 15)]; break;
        case 1: word += fuzz_mcu_draw(&state, 9) - 4u; break;
        case 2: word = fuzz_mcu_draw(&state, 2) == 0 ? word * 2 : word / 2; break;
        case 3: memcpy(&word, data + FUZZ_MCU_PLAN + 4 * (size_t)fuzz_mcu_draw(&state, words), sizeof(word)); break;
        default: word = fuzz_mcu_draw(&state, 256); break;
        }
        fuzz_mcu_word(data, at, word);
    }
    return size;
}
#endif

FUZZ_TARGET(fuzz_mcu)
