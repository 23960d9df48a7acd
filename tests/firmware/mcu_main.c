/* mcu_main.c - runs an emitted model (model.h, from tests/firmware/mcu.py) on a board of qemu: compares the results with the host's, and
   prints instructions and bytes of stack of one run. */
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#define NNRT_STATIC
#include "nnrt.h"

#include "devices/nnrt_mcu.h"

#include "model.h"

#include "board.h"
#include "io.h" /* model_io: the arrays of the self-test; model_wrong: the number of wrong bytes of results */

int main(void)
{
    static uint64_t arena[MODEL_ARENA_WORDS];
    nnrt_view views[MODEL_VIEWS];
    NNRT_ReturnCode code;
    uint32_t start;
    board_print_number("arena", MODEL_ARENA_BYTES);
    board_count_start();
    board_paint();
    start = board_count();
    code = nnrt_plan_execute(model_plan(), views, arena, model_io, NULL);
    board_print_number("instructions", board_count() - start);
    board_print_number("stack", board_painted_over());
    board_print_number("wrong", model_wrong());
    return code != NNRT_SUCCESS || model_wrong() > 0;
}
