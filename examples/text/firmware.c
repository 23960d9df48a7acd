/* firmware.c - the language model of this folder on a microcontroller, without an operating system, heap or files.
 *
 * Feeds the prompt, then writes the most likely tokens, where logits of the last 64 tokens count less (nnrt generate
 * --repeat-penalty), and prints their numbers, its memory and its time. Weights are constants in
 * flash; the keys and values of all tokens are the state. qemu.py generates writer.h (nnrt emit-c) and prompt.h, and compares the
 * tokens with the output of nnrt generate. */
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#define NNRT_STATIC /* the compiler drops all kernels that the model does not use */
#include "core/nnrt_plan.h"

#include "devices/nnrt_mcu.h"

#include "prompt.h" /* writer_prompt; WRITER_TOKENS, how many to write; WRITER_PENALTY; WRITER_VOCABULARY */
#include "writer.h" /* writer_run_in */

#include "board.h"

static uint64_t arena[WRITER_ARENA_WORDS], state[WRITER_STATE_WORDS];
static float logits[WRITER_VOCABULARY];
static int64_t last[64]; /* tokens by their positions, modulo 64 */
static bool seen[WRITER_VOCABULARY];

/* Runs the model on the token at a position; returns the most likely one behind it. */
static int64_t next_token(int64_t token, int64_t position)
{
    int64_t best = 0;
    last[position % 64] = token;
    if (writer_run_in(arena, state, &token, &position, logits) != NNRT_SUCCESS)
        board_exit(1);
    memset(seen, 0, sizeof(seen));
    for (int64_t i = 0; i < 64 && i <= position; i++) {
        float *const logit = &logits[last[i]];
        if (!seen[last[i]])
            *logit = *logit > 0 ? *logit / WRITER_PENALTY : *logit * WRITER_PENALTY;
        seen[last[i]] = true;
    }
    for (int64_t i = 1; i < WRITER_VOCABULARY; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

int main(void)
{
    const int64_t prompt = (int64_t)(sizeof(writer_prompt) / sizeof(*writer_prompt));
    int64_t token = 0;
    uint32_t start, took = 0;
    writer_state_reset(state);
    board_count_start();
    for (int64_t at = 0; at < prompt + WRITER_TOKENS - 1; at++) {
        if (at == prompt)
            board_paint();
        start = board_count();
        token = next_token(at < prompt ? writer_prompt[at] : token, at);
        took = board_count() - start;
        if (at == prompt)
            board_print_number("stack", board_painted_over());
        if (at >= prompt - 1)
            board_print_number("token", (uint32_t)token);
    }
    board_print_number("instructions", took); /* of the last token */
    board_print_number("arena", sizeof(arena));
    board_print_number("state", sizeof(state));
    board_print_number("ram", sizeof(arena) + sizeof(state) + sizeof(logits) + sizeof(last) + sizeof(seen));
    return 0;
}
