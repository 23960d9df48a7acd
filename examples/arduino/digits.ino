#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#define NNRT_STATIC
#include <nnrt.h>
#include <nnrt_mcu.h>
#include "digits_model.h" // by nnrt emit-c: digits_run_in, and a picture of a 7, digits_x0

static uint64_t arena[DIGITS_ARENA_WORDS];
static int8_t scores[10];
void setup() { Serial.begin(115200); }
void loop()
{
    if (digits_run_in(arena, digits_x0, scores) == NNRT_SUCCESS)
        Serial.println(scores[7] > 0 ? "a seven" : "not a seven");
}
