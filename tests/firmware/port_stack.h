/* The stack of a 32-bit processor, painted; PORT_READ_SP is the instruction that reads its pointer
   into %0. */
#include "port.h"

extern uint32_t port_stack_end[]; /* of the linker script: the lowest word that is free */

enum { PAINTED = 4096 }; /* words below the stack pointer, at most */
static uint32_t *painted_from, *painted_to;

__attribute__((noinline)) void port_stack_paint(void) {
    uint32_t *p;
    __asm__ volatile(PORT_READ_SP : "=r"(painted_to));
    painted_from = painted_to - port_stack_end > PAINTED ? painted_to - PAINTED : port_stack_end;
    for (p = painted_from; p < painted_to; p++) *(volatile uint32_t *)p = 0xA5A5A5A5u;
}

uint32_t port_stack_used(void) {
    const uint32_t *p = painted_from;
    while (p < painted_to && *p == 0xA5A5A5A5u) p++;
    return (uint32_t)(painted_to - p) * 4;
}
