/* mcu_file_main.c - firmware of tests/firmware/test_mcu_program.py: opens a plan in flash (plan.nnrt, linked unchanged), checks
   that faults are refused, runs it, and compares the results with the reference device's (outputs.bin). */
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#define NNRT_STATIC
#include "nnrt.h"

#include "devices/nnrt_mcu.h"

#include "board.h"
#include "plan.h" /* rows, as nnrt info prints them; PLAN_ARENA, PLAN_VIEWS, PLAN_OUTPUT */

#define BYTES(name, path)                                                                                              \
    __asm__(".section .rodata." #name ",\"a\"\n.balign 8\n.global " #name "\n" #name ":\n.incbin \"" path "\"\n"       \
            ".global " #name "_end\n" #name "_end:\n.byte 0\n.text");                                                  \
    extern const uint8_t name[], name##_end[];
BYTES(plan_file, "plan.nnrt")
BYTES(plan_input, "inputs.bin")
BYTES(plan_wanted, "outputs.bin")

static const nnrt_mcu_kernels kernels = {rows, sizeof(rows) / sizeof(rows[0]), NNRT_MCU_PROCESSOR};

/* The number of faults that were not refused. */
static uint32_t wrongly_opened(void)
{
    const nnrt_mcu_kernels fewer = {rows + 1, kernels.count - 1, NNRT_MCU_PROCESSOR};
    const nnrt_mcu_kernels other = {rows, kernels.count, NNRT_MCU_PROCESSOR + 1};
    const size_t bytes = (size_t)(plan_file_end - plan_file);
    nnrt_mcu_program program;
    uint32_t wrong = nnrt_mcu_open(&program, plan_file, bytes, &fewer) != NNRT_UNSUPPORTED_OP || program.kernel == 0;
    wrong += nnrt_mcu_open(&program, plan_file, bytes, &other) != NNRT_NOT_SUPPORT;
    wrong += nnrt_mcu_open(&program, plan_file, bytes - 1, &kernels) != NNRT_INVALID_FILE;
    wrong += nnrt_mcu_open(&program, plan_file + 4, bytes - 4, &kernels) != NNRT_INVALID_PARAMETER;
    return wrong;
}

int main(void)
{
    static uint64_t memory[NNRT_MCU_MEMORY_WORDS(PLAN_ARENA, PLAN_VIEWS)], output[(PLAN_OUTPUT + 7) / 8];
    const uint32_t sizes[2] = {(uint32_t)(plan_input_end - plan_input), PLAN_OUTPUT};
    nnrt_mcu_program program;
    void *io[2];
    NNRT_ReturnCode code;
    uint32_t start, wrong = 0;
    board_print_number("program", sizeof(program));
    board_print_number("accepted", wrongly_opened());
    board_count_start();
    board_paint();
    start = board_count();
    code = nnrt_mcu_open(&program, plan_file, (size_t)(plan_file_end - plan_file), &kernels);
    board_print_number("openInstructions", board_count() - start);
    board_print_number("openStack", board_painted_over());
    if (code != NNRT_SUCCESS || program.memoryBytes > sizeof(memory) || !nnrt_mcu_takes(&program, 1, 1, sizes)) {
        board_print_number("code", (uint32_t)code);
        return 1;
    }
    io[0] = (void *)(uintptr_t)plan_input;
    io[1] = output;
    board_paint();
    start = board_count();
    code = nnrt_mcu_run(&program, memory, io);
    board_print_number("instructions", board_count() - start);
    board_print_number("stack", board_painted_over());
    for (size_t i = 0; i < PLAN_OUTPUT; i++)
        wrong += ((const uint8_t *)output)[i] != plan_wanted[i];
    board_print_number("wrong", wrong);
    return code != NNRT_SUCCESS || wrong > 0;
}
