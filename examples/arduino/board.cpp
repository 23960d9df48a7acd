/* board.cpp - what an Arduino core gives a sketch, on a desktop: for the test that compiles and runs digits.ino. loop()
   runs once. */
#include <stdint.h>
#include <stdio.h>

struct Printer {
    void begin(long) {}
    explicit operator bool() const { return true; }
    void print(const char *text) { fputs(text, stdout); }
    void print(int value) { printf("%d", value); }
    void print(uint32_t value) { printf("%lu", (unsigned long)value); }
    void println(const char *text) { puts(text); }
};
static Printer Serial;
static uint32_t micros() { return 0; }
static void delay(unsigned long) {}

#include "digits.ino"

int main()
{
    setup();
    loop();
    return 0;
}
