#include "Arduino.h"
#include "board.h"

Printer Serial;

void Printer::println(const char *text)
{
    board_print(text);
    board_print("\n");
}

int main()
{
    setup();
    loop();
    board_exit(0);
    return 0;
}
