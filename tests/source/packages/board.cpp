/* board.cpp - replaces an Arduino core on a desktop: for the test that compiles and runs digits.ino. loop() runs once. */
#include <stdint.h>
#include <stdio.h>

struct Printer {
    void begin(long) {}
    void println(const char *text) { puts(text); }
};
static Printer Serial;

#include "digits.ino"

int main()
{
    setup();
    loop();
    return 0;
}
