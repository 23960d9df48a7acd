/* From reset to main on a Cortex-M4 that qemu emulates, for a program with files and arguments: newlib's librdimon
   requests them from the emulator by semihosting. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern char cross_bss[], cross_bss_end[], cross_stack[];
extern void initialise_monitor_handles(void); /* librdimon's: standard input, output and error */
int main(int argc, char **argv);
void cross_reset(void);
void cross_fault(void);
void _init(void);
void _fini(void);

enum { MOST_TEXT = 65536, MOST_ARGS = 1024 };

static uint32_t call(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void _init(void)
{
}

void _fini(void)
{
}

void cross_reset(void)
{
    static char text[MOST_TEXT];
    static char *args[MOST_ARGS + 1];
    const struct {
        char *text;
        uint32_t size;
    } block = {text, MOST_TEXT};
    int count = 0;
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* CPACR: the floating-point unit */
    __asm__ volatile("dsb\nisb");
    memset(cross_bss, 0, (size_t)(cross_bss_end - cross_bss));
    initialise_monitor_handles();
    if (call(0x15, &block) != 0) /* SYS_GET_CMDLINE */
        exit(3);
    for (char *at = strtok(text, " "); at != NULL && count < MOST_ARGS; at = strtok(NULL, " "))
        args[count++] = at;
    exit(main(count, args));
}

void cross_fault(void)
{
    (void)call(0x04, "cortex-m4: fault\n"); /* SYS_WRITE0 */
    (void)call(0x18, (const void *)(uintptr_t)0x20023); /* SYS_EXIT, a run-time error */
    for (;;) {
    }
}

__asm__(".section .cross.vectors, \"a\"\n.word cross_stack, cross_reset\n"
        ".word cross_fault, cross_fault, cross_fault, cross_fault, cross_fault, 0, 0, 0, 0\n"
        ".word cross_fault, cross_fault, 0, cross_fault, cross_fault\n.text");
