/* main.c - the digits network on a microcontroller, without an operating system, heap or files.
 *
 * Recognizes the ten images of digit_images.h and prints every score as the bits of a float, or as an integer of the
 * quantized network, then its memory use and time. make firmware builds two variants:
 * - the model and its plan as const C from nnrt emit-c (digits_model.h);
 * - FIRMWARE_LOAD: digits.nnrt as a file in flash, loaded and planned on the device, in one buffer. */
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#include "core/nnrt_plan.h"

#ifndef FIRMWARE_LOAD
#include "digits_model.h"
#endif

#include "board.h"
#include "digit_images.h" /* digit_value: float or int8_t; static const digit_value digit_images[10][784] */

static void print_word(uint32_t value, const char *end)
{
    char text[9];
    for (int i = 0; i < 8; i++)
        text[i] = "0123456789abcdef"[(value >> (28 - 4 * i)) & 15u];
    text[8] = '\0';
    board_print(text);
    board_print(end);
}

/* "name=0000abcd" on a line of its own, hexadecimal. */
static void print_figure(const char *name, uint32_t value)
{
    board_print(name);
    board_print("=");
    print_word(value, "\n");
}

/* ---- the model ---- */

#ifdef FIRMWARE_LOAD

extern const unsigned char digits_nnrt[], digits_nnrt_end[]; /* the file, linked unchanged */
static uint64_t buffer[FIRMWARE_LOAD / 8];                   /* holds the model's tables, the plan and the arena */
static const nnrt_plan *plan;
static nnrt_view *views;
static void *arena;

static NNRT_ReturnCode prepare(void)
{
    NNRT_ModelConfig config;
    nnrt_memory memory;
    NNRT_Model *model;
    nnrt_plan *made;
    NNRT_ReturnCode code;
    memset(&config, 0, sizeof(config));
    nnrt_memory_buffer(&memory, buffer, sizeof(buffer));
    code = nnrt_model_load_into(&model, digits_nnrt, (size_t)(digits_nnrt_end - digits_nnrt), false, &memory, NULL);
    if (code == NNRT_SUCCESS)
        code = nnrt_plan_build(model, &config, &memory, &made);
    if (code != NNRT_SUCCESS)
        return code;
    nnrt_memory_drop_temp(&memory);
    plan = made;
    views = (nnrt_view *)nnrt_memory_keep(&memory, plan->maxArgs * sizeof(*views));
    arena = nnrt_memory_keep(&memory, plan->arenaBytes);
    print_figure("arena", (uint32_t)plan->arenaBytes);
    print_figure("buffer", (uint32_t)memory.peak);
    return arena != NULL && views != NULL ? NNRT_SUCCESS : NNRT_OUT_OF_MEMORY;
}

static NNRT_ReturnCode recognize(const digit_value *image, digit_value *scores)
{
    void *io[2];
    io[0] = (void *)(uintptr_t)image;
    io[1] = scores;
    return nnrt_plan_execute(plan, views, arena, io, NULL);
}

#else

static NNRT_ReturnCode prepare(void)
{
    print_figure("arena", DIGITS_ARENA_BYTES);
    return NNRT_SUCCESS;
}

static NNRT_ReturnCode recognize(const digit_value *image, digit_value *scores)
{
    return digits_run(image, scores);
}

#endif

static uint32_t bits_of(digit_value score)
{
#ifdef FIRMWARE_INT8
    return (uint32_t)score;
#else
    uint32_t bits;
    memcpy(&bits, &score, sizeof(bits));
    return bits;
#endif
}

int main(void)
{
    digit_value scores[10];
    uint32_t start, took;
    NNRT_ReturnCode code = prepare();
    board_count_start();
    for (int i = 0; i < 10 && code == NNRT_SUCCESS; i++) {
        if (i == 7)
            board_paint();
        start = board_count();
        code = recognize(digit_images[i], scores);
        took = board_count() - start;
        if (i == 7) {
            print_figure("stack", board_painted_over());
            print_figure("instructions", took);
        }
        board_print("scores");
        for (int k = 0; k < 10; k++) {
            board_print(" ");
            print_word(bits_of(scores[k]), "");
        }
        board_print("\n");
    }
#ifndef FIRMWARE_LOAD
    {
        static uint64_t own[DIGITS_ARENA_WORDS];
        print_figure("selftest", (uint32_t)digits_selftest(own));
    }
#endif
    if (code != NNRT_SUCCESS)
        print_figure("failed", (uint32_t)code);
    return (int)code;
}
