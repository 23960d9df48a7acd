/* firmware.c - the keyword spotter on a microcontroller, without an operating system, heap, files or floating-point arithmetic.
 *
 * Finds the words of a sound in flash and prints them, then its memory use and time. qemu.py generates net.h (nnrt emit-c),
 * mfcc.h (nnrt emit-frontend) and the sound, and compares the words with the output of kws.c. */
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#define NNRT_STATIC /* the compiler drops all kernels that the network does not use */
#include "core/nnrt_plan.h"

#include "devices/nnrt_mcu.h"

#include "kws.h"

#include "mfcc.h" /* mfcc_frontend */
#include "net.h"  /* net_run, net_selftest */

#include "board.h"

extern const int16_t sound[], sound_end[]; /* 16,000 samples per second */

static const char *const classes[KWS_COUNT] = {KWS_CLASSES};
static kws_spotter spotter;
static uint32_t memory[MFCC_FRONTEND_WORDS];
static uint64_t arena[NET_ARENA_WORDS];

static void print_word(int32_t word, uint32_t sample, int32_t mean)
{
    board_print("word ");
    board_print(classes[word]);
    board_print("\n");
    board_print_number("sample", sample);
    board_print_number("mean", (uint32_t)mean);
}

/* Runs the network, prints a detected word, and returns the instructions of the run. */
static uint32_t run_network(uint32_t sample)
{
    int8_t scores[KWS_COUNT];
    int32_t mean, word;
    const uint32_t start = board_count();
    uint32_t took;
    if (net_run_in(arena, spotter.rows, scores) != NNRT_SUCCESS)
        board_exit(1);
    took = board_count() - start;
    word = kws_detect(&spotter, scores, &mean);
    if (word >= 0)
        print_word(word, sample, mean);
    return took;
}

int main(void)
{
    uint32_t network = 0, features = 0, start;
    bool run;
    if (net_selftest(arena) != NNRT_SUCCESS ||
        kws_start(&spotter, mfcc_frontend(), memory, sizeof(memory)) != NNRT_SUCCESS)
        return 1;
    board_count_start();
    board_paint();
    for (const int16_t *at = sound; at < sound_end;) {
        start = board_count();
        at += kws_push(&spotter, at, (size_t)(sound_end - at), &run);
        features += board_count() - start;
        network += run ? run_network((uint32_t)(at - sound)) : 0;
    }
    board_print_number("stack", board_painted_over());
    board_print_number("runs", (uint32_t)spotter.runs);
    board_print_number("features", features);
    board_print_number("network", network);
    board_print_number("arena", sizeof(arena));
    board_print_number("ram", sizeof(arena) + sizeof(memory) + sizeof(spotter));
    return 0;
}
