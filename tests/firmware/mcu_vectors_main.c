/* mcu_vectors_main.c - firmware of tests/firmware/mcu.py vectors: reads the records of mcu_vectors.c from the host, runs each by
   the kernels of nnrt_mcu.h (a plan) or by the reference kernels (a model, planned on the target), and compares the
   results with the recorded bytes of the reference device on the host. VECTORS_FILE: path of the records. */
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#define NNRT_STATIC
#include "core/nnrt_plan.h"

#include "devices/nnrt_mcu.h"

#include "board.h"
#include "mcu_vectors.h"

#define ROW(number, kernel, S) NNRT_MCU_LINK(kernel),
static const nnrt_mcu_row rows[] = {NNRTI_MCU_NUMBERS(ROW)};
static const nnrt_mcu_kernels kernels = {rows, sizeof(rows) / sizeof(rows[0]), NNRT_MCU_PROCESSOR};

typedef struct vectors_record {
    uint32_t head[VECTORS_HEAD];
    uint8_t data[VECTORS_RECORD - 4 * VECTORS_HEAD];
} vectors_record;

static vectors_record record __attribute__((aligned(VECTORS_ALIGNMENT)));
static uint8_t results[VECTORS_RESULTS] __attribute__((aligned(VECTORS_ALIGNMENT)));
static uint8_t memory[VECTORS_MEMORY] __attribute__((aligned(VECTORS_ALIGNMENT)));

/* Reads bytes of the host's file; false: it has fewer. */
static bool host_read(uint32_t handle, void *to, uint32_t bytes)
{
    uintptr_t block[3];
    block[0] = handle;
    block[1] = (uintptr_t)to;
    block[2] = bytes;
    return board_call(0x06, block) == 0; /* SYS_READ */
}

static uint32_t host_open(void)
{
    static const char path[] = VECTORS_FILE;
    uintptr_t block[3];
    block[0] = (uintptr_t)path;
    block[1] = 1; /* "rb" */
    block[2] = sizeof(path) - 1;
    return board_call(0x01, block); /* SYS_OPEN */
}

static NNRT_ReturnCode run_plan(const void *file, uint32_t bytes, void *const *io)
{
    nnrt_mcu_program program;
    NNRT_ReturnCode code = nnrt_mcu_open(&program, file, bytes, &kernels);
    if (code == NNRT_SUCCESS && program.memoryBytes > sizeof(memory))
        code = NNRT_OUT_OF_MEMORY;
    if (code == NNRT_SUCCESS && !nnrt_mcu_takes(&program, record.head[3], record.head[4], &record.head[VECTORS_SIZES]))
        code = NNRT_INVALID_PARAMETER;
    return code == NNRT_SUCCESS ? nnrt_mcu_run(&program, memory, io) : code;
}

static NNRT_ReturnCode run_model(const void *file, uint32_t bytes, void *const *io)
{
    NNRT_ModelConfig config;
    NNRT_Model *model;
    nnrt_memory m;
    nnrt_plan *plan;
    nnrt_view *views;
    void *arena;
    NNRT_ReturnCode code;
    memset(&config, 0, sizeof(config));
    nnrt_memory_buffer(&m, memory, sizeof(memory));
    code = nnrt_model_load_into(&model, file, bytes, true, &m, NULL);
    if (code == NNRT_SUCCESS)
        code = nnrt_plan_build(model, &config, &m, &plan);
    if (code != NNRT_SUCCESS)
        return code;
    nnrt_memory_drop_temp(&m);
    views = (nnrt_view *)nnrt_memory_keep(&m, (plan->maxArgs + 1) * sizeof(*views));
    arena = nnrt_memory_keep(&m, plan->arenaBytes);
    if (arena == NULL || views == NULL)
        return NNRT_OUT_OF_MEMORY;
    return nnrt_plan_execute(plan, views, arena, io, NULL);
}

/* Runs the record that was read. Returns the number of wrong bytes. */
static uint32_t run_record(NNRT_ReturnCode *code)
{
    void *io[VECTORS_HEAD];
    const uint32_t *head = record.head, *sizes = head + VECTORS_SIZES;
    const uint8_t *at = record.data + VECTORS_PAD(head[2]);
    uint32_t wrong = 0, size = 0;
    for (uint32_t i = 0; i < head[3]; at += VECTORS_PAD(sizes[i]), i++)
        io[i] = (void *)(uintptr_t)at;
    for (uint32_t i = 0; i < head[4]; i++) {
        io[head[3] + i] = results + size;
        size += VECTORS_PAD(sizes[head[3] + i]);
    }
    memset(results, 0, size);
    memset(memory, 0xA5, sizeof(memory));
    *code = head[1] == VECTORS_PLAN ? run_plan(record.data, head[2], io) : run_model(record.data, head[2], io);
    for (uint32_t i = 0; i < size; i++) /* the padding is 0 on both sides */
        wrong += results[i] != at[i];
    return wrong;
}

int main(void)
{
    const uint32_t handle = host_open();
    uint32_t count = 0, failed = 0;
    while (host_read(handle, record.head, sizeof(record.head)) && record.head[0] <= sizeof(record) &&
           host_read(handle, record.data, record.head[0] - (uint32_t)sizeof(record.head))) {
        NNRT_ReturnCode code;
        const uint32_t wrong = run_record(&code);
        if (code != NNRT_SUCCESS || wrong != 0) {
            board_print_number("case", count);
            board_print_number("code", (uint32_t)code);
            board_print_number("bytes", wrong);
            failed++;
        }
        count++;
    }
    board_print_number("cases", count);
    return failed > 0;
}
