/* start.c - from reset to main, on Cortex-M and on RISC-V without an operating system. */
#include "board.h"

extern uint32_t board_data_from[], board_data[], board_data_end[], board_bss[], board_bss_end[];
int main(void);
void board_start(void);

/* Copies data from flash to RAM, zeroes .bss, enables the floating-point unit if there is one, and calls main. The
   loops use volatile: otherwise compilers replace them by calls of memcpy and memset. */
void board_start(void)
{
    const volatile uint32_t *from = board_data_from;
    for (volatile uint32_t *to = board_data; to < board_data_end; to++)
        *to = *from++;
    for (volatile uint32_t *to = board_bss; to < board_bss_end; to++)
        *to = 0;
#if defined(__ARM_FP)
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* CPACR: coprocessors 10 and 11 */
    __asm__ volatile("dsb\nisb");
#endif
    board_exit((uint32_t)main());
}

#if defined(__riscv)
__asm__(".section .board.reset, \"ax\"\n.option push\n.option arch, +zicsr\n.global board_reset\nboard_reset:\n"
        "la t0, board_trap\ncsrw mtvec, t0\nla sp, board_stack_top\nj board_start\n"
        ".balign 4\nboard_trap:\nli a0, 3\nj board_fault\n.option pop\n.text");
#else
void board_reset(void);
void board_reset(void)
{
    board_start();
}
#endif

void board_fault(void);
void board_fault(void)
{
    board_print("fault\n");
    board_exit(2);
}

#if !defined(__riscv)
__asm__(".section .board.vectors, \"a\"\n.word board_stack_top, board_reset\n"
        ".word board_fault, board_fault, board_fault, board_fault, board_fault, 0, 0, 0, 0\n"
        ".word board_fault, board_fault, 0, board_fault, board_fault\n.text");
#endif
