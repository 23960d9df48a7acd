/* firmware.c - Silero VAD on a microcontroller, without an operating system, heap or files.
 *
 * Prints the probability of speech for each piece of a sound in flash, as the bits of a float, then memory use and
 * instructions. qemu.py generates net.h (nnrt emit-c) and the sound, and compares the probabilities with stream.c's. */
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#define NNRT_STATIC /* the compiler drops all kernels that the network does not use */
#include "core/nnrt_plan.h"

#include "devices/nnrt_mcu.h"

#include "net.h" /* net_run_in, net_state_reset, net_selftest */

#include "board.h"

enum { CONTEXT = 64, PIECE = 512 };

extern const int16_t sound[], sound_end[]; /* 16,000 samples per second, a multiple of PIECE */

static uint64_t arena[NET_ARENA_WORDS], state[NET_STATE_WORDS];
static float input[CONTEXT + PIECE];

/* Runs the network on a piece, prints the result, and returns the instructions. */
static uint32_t run_network(const int16_t *piece)
{
    float probability;
    uint32_t bits, start;
    for (int i = 0; i < PIECE; i++)
        input[CONTEXT + i] = (float)piece[i] / 32768;
    start = board_count();
    if (net_run_in(arena, state, input, &probability) != NNRT_SUCCESS)
        board_exit(1);
    start = board_count() - start;
    memmove(input, input + PIECE, CONTEXT * sizeof(float));
    memcpy(&bits, &probability, sizeof(bits));
    board_print_number("probability", bits);
    return start;
}

int main(void)
{
    uint32_t instructions = 0;
    if (net_selftest(arena) != NNRT_SUCCESS) /* the bits of the machine that wrote net.h */
        return 1;
    net_state_reset(state);
    board_count_start();
    board_paint();
    for (const int16_t *at = sound; at < sound_end; at += PIECE)
        instructions += run_network(at) / 1000;
    board_print_number("stack", board_painted_over());
    board_print_number("kiloinstructions", instructions);
    board_print_number("ram", sizeof(arena) + sizeof(state) + sizeof(input));
    return 0;
}
