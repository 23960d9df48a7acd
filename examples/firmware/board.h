/* board.h - board support for main.c: text output, exit, an instruction counter, the depth of the stack. The boards are
   the ones that qemu emulates: mps2-an385, mps2-an386, mps2-an500, mps3-an547 (Arm) and virt (RISC-V). Output goes
   through semihosting. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

extern uint32_t board_stack_low[], board_stack_top[]; /* from the linker script */

/* One call to the host: operation and argument as Arm's and RISC-V's semihosting specifications number them. */
static inline uint32_t board_call(uint32_t operation, const void *argument)
{
#if defined(__riscv)
    register uint32_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;
    __asm__ volatile(".option push\n.balign 16\n.option norvc\n"
                     "slli zero, zero, 0x1f\nebreak\nsrai zero, zero, 7\n.option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
#else
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
#endif
}

static inline void board_print(const char *text)
{
    (void)board_call(0x04, text); /* SYS_WRITE0 */
}

/* Ends the emulator; status 0 is success. */
static inline void board_exit(uint32_t status)
{
    const uint32_t block[2] = {0x20026, status}; /* ADP_Stopped_ApplicationExit */
    (void)board_call(0x20, block);               /* SYS_EXIT_EXTENDED */
    for (;;) {
    }
}

/* Instruction counter with an arbitrary start; requires qemu -icount shift=0, where an instruction takes a nanosecond
   of its clock. Arm: the board's timer counts in steps of 40 instructions; with MVE (mps3-an547): SysTick counts in
   steps of 31.25 instructions and wraps after 524 million; RISC-V: minstret counts each. */
static inline void board_count_start(void)
{
#if defined(__ARM_FEATURE_MVE)
    volatile uint32_t *timer = (volatile uint32_t *)0xE000E010u; /* 32 MHz, 24 bits, counts down */
    timer[1] = 0xffffffu;
    timer[2] = 0;
    timer[0] = 5;
#elif !defined(__riscv)
    volatile uint32_t *timer = (volatile uint32_t *)0x40000000u; /* CMSDK APB timer 0, 25 MHz, counts down */
    timer[0] = 0;
    timer[2] = 0xffffffffu;
    timer[1] = 0xffffffffu;
    timer[0] = 1;
#endif
}

static inline uint32_t board_count(void)
{
#if defined(__riscv)
    uint32_t count;
    __asm__ volatile(".option push\n.option arch, +zicsr\ncsrr %0, minstret\n.option pop" : "=r"(count));
    return count;
#elif defined(__ARM_FEATURE_MVE)
    return (0xffffffu - ((volatile uint32_t *)0xE000E010u)[2]) * 125u / 4u;
#else
    volatile uint32_t *timer = (volatile uint32_t *)0x40000000u;
    return (0xffffffffu - timer[1]) * 40u;
#endif
}

#define BOARD_PAINTED 16384 /* bytes below the stack pointer that are painted, and checked afterwards */
#define BOARD_PAINT 0xA5C3F00Du

__attribute__((noinline, unused)) static void board_paint(void)
{
    volatile uint32_t here = 0;
    volatile uint32_t *low = (volatile uint32_t *)((uintptr_t)&here - 64);
    for (uint32_t i = 0; i < BOARD_PAINTED / 4; i++)
        *low-- = BOARD_PAINT;
}

/* Stack bytes used since board_paint(); call both from the same function. */
__attribute__((noinline, unused)) static uint32_t board_painted_over(void)
{
    volatile uint32_t here = 0;
    volatile uint32_t *low = (volatile uint32_t *)((uintptr_t)&here - 64 - BOARD_PAINTED + 4);
    uint32_t left = 0;
    while (left < BOARD_PAINTED && *low == BOARD_PAINT) {
        low++;
        left += 4;
    }
    return BOARD_PAINTED + 64 - left;
}

/* "name=1234" on a line of its own. */
__attribute__((unused)) static void board_print_number(const char *name, uint32_t value)
{
    char text[12];
    int n = 11;
    text[n] = '\0';
    do
        text[--n] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    board_print(name);
    board_print("=");
    board_print(text + n);
    board_print("\n");
}

#endif
