/* mcu_main.c - runs an emitted model (model.h, from tests/mcu.py) on a board of qemu: checks the results against those of
   the machine that wrote it, and prints instructions and bytes of stack of one run. */
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#define NNRT_STATIC
#include "nnrt.h"

#include "devices/nnrt_mcu.h"

#include "model.h"

#include "board.h"
#include "io.h" /* model_io: the arrays of the self-test; model_wrong: the number of wrong bytes of results */

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

int main(void)
{
    static uint64_t arena[MODEL_ARENA_WORDS];
    nnrt_view views[MODEL_VIEWS];
    NNRT_ReturnCode code;
    uint32_t start;
    print_figure("arena", MODEL_ARENA_BYTES);
    board_count_start();
    paint();
    start = board_count();
    code = nnrt_plan_execute(model_plan(), views, arena, model_io, NULL);
    print_figure("instructions", board_count() - start);
    print_figure("stack", painted_over());
    print_figure("wrong", model_wrong());
    return code != NNRT_SUCCESS || model_wrong() > 0;
}
