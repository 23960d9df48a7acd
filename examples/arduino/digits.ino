/* digits.ino - the digits network as an Arduino sketch: reads a picture of a digit and prints what it is.
 *
 * `make arduino` writes the sketch folder build/arduino/digits: this file, the headers of nnrt, and digits_model.h, the
 * quantized network as C for the processor of the board (MCU=cortex-m4 by default; nnrt emit-c --device mcu:). Open
 * that folder in the Arduino IDE, or: arduino-cli compile --fqbn BOARD build/arduino/digits
 *
 * Memory: the arena (DIGITS_ARENA_BYTES) and nothing else; no heap. */
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#define NNRT_STATIC /* all in this file: unused kernels are left out */
#include "src/nnrt_plan.h"

#include "src/devices/nnrt_mcu.h"

#include "digits_model.h" /* digits_run_in, digits_selftest, and the picture of the self-test, digits_x0 */

static uint64_t arena[DIGITS_ARENA_WORDS];
static int8_t scores[10];

void setup()
{
    Serial.begin(115200);
    while (!Serial) {
    }
    Serial.println(digits_selftest(arena) == NNRT_SUCCESS ? "nnrt: the results are those of the desktop"
                                                          : "nnrt: wrong results on this board");
}

void loop()
{
    const uint32_t start = micros();
    const NNRT_ReturnCode code = digits_run_in(arena, digits_x0, scores);
    const uint32_t took = micros() - start;
    int best = 0;
    for (int i = 1; i < 10; i++)
        best = scores[i] > scores[best] ? i : best;
    if (code == NNRT_SUCCESS) {
        Serial.print("digit ");
        Serial.print(best);
        Serial.print(" in ");
        Serial.print(took);
        Serial.println(" us");
    }
    delay(1000);
}
