/* mcu_file_main.c - firmware of tests/test_mcu_program.py: opens a plan in flash (plan.nnrt, linked unchanged), checks
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

#define PAINTED 16384 /* bytes below the stack pointer that are painted, and checked afterwards */
#define PAINT 0xA5C3F00Du

static void print_figure(const char *name, uint32_t value)
{
    char text[12];
    int n = 11;
    text[n] = '\0';
    do
        text[--n] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    board_print(name);
    board_print("=");
    board_print(text + n);
    board_print("\n");
}

__attribute__((noinline)) static void paint(void)
{
    volatile uint32_t here = 0;
    volatile uint32_t *low = (volatile uint32_t *)((uintptr_t)&here - 64);
    for (uint32_t i = 0; i < PAINTED / 4; i++)
        *low-- = PAINT;
}

/* Stack bytes used since paint(); call both from the same function. */
__attribute__((noinline)) static uint32_t painted_over(void)
{
    volatile uint32_t here = 0;
    volatile uint32_t *low = (volatile uint32_t *)((uintptr_t)&here - 64 - PAINTED + 4);
    uint32_t left = 0;
    while (left < PAINTED && *low == PAINT) {
        low++;
        left += 4;
    }
    return PAINTED + 64 - left;
}

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
    print_figure("program", sizeof(program));
    print_figure("accepted", wrongly_opened());
    board_count_start();
    paint();
    start = board_count();
    code = nnrt_mcu_open(&program, plan_file, (size_t)(plan_file_end - plan_file), &kernels);
    print_figure("openInstructions", board_count() - start);
    print_figure("openStack", painted_over());
    if (code != NNRT_SUCCESS || program.memoryBytes > sizeof(memory) || !nnrt_mcu_takes(&program, 1, 1, sizes)) {
        print_figure("code", (uint32_t)code);
        return 1;
    }
    io[0] = (void *)(uintptr_t)plan_input;
    io[1] = output;
    paint();
    start = board_count();
    code = nnrt_mcu_run(&program, memory, io);
    print_figure("instructions", board_count() - start);
    print_figure("stack", painted_over());
    for (size_t i = 0; i < PLAN_OUTPUT; i++)
        wrong += ((const uint8_t *)output)[i] != plan_wanted[i];
    print_figure("wrong", wrong);
    return code != NNRT_SUCCESS || wrong > 0;
}
