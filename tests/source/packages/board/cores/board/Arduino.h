/* The part of Arduino's interface that the sketch uses; output through the emulator. */
#ifndef ARDUINO_H
#define ARDUINO_H
#include <stdint.h>

struct Printer {
    void begin(long) {}
    void println(const char *text);
};
extern Printer Serial;
void setup();
void loop();
#endif
