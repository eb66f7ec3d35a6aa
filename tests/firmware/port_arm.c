/* Cortex-M0 to M33 under QEMU: vectors and start-up, text and exit by semihosting, SysTick.
   PORT_TICK_PS: period of SysTick's clock on the board; PORT_ICOUNT_NS: time that QEMU takes for
   an instruction when it counts them. */
#include "port.h"

extern uint32_t port_data_from[], port_data[], port_data_end[], port_bss[], port_bss_end[];
extern uint32_t port_stack_top[];

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define SYST_CSR REGISTER(0xE000E010u)
#define SYST_RVR REGISTER(0xE000E014u)
#define SYST_CVR REGISTER(0xE000E018u)
#define CPACR REGISTER(0xE000ED88u)

static int semihosting(int operation, const void *argument) {
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void port_text(const char *text) {
    semihosting(0x04, text); /* SYS_WRITE0 */
}

void port_exit(int code) {
    uint32_t argument[2] = { 0x20026, 0 }; /* the application ended by itself; with this code */
    argument[1] = (uint32_t)code;
    semihosting(0x20, argument); /* SYS_EXIT_EXTENDED */
    for (;;) {
    }
}

/* ---- vectors and start-up ---- */

static port_function tick_function;

static void fault(void) {
    port_exit(PORT_FAULT);
}

static void sys_tick(void) {
    tick_function();
}

static void reset(void) {
    uint32_t *to, *from;
#ifdef __ARM_FP
    CPACR |= 0xFu << 20; /* the floating-point unit is off after reset */
    __asm__ volatile("dsb\n isb" : : : "memory");
#endif
    for (to = port_data, from = port_data_from; to < port_data_end;) *to++ = *from++;
    for (to = port_bss; to < port_bss_end;) *to++ = 0;
    port_exit(main());
}

typedef struct port_vectors {
    const void *stack;
    port_function handler[15]; /* exceptions 1 to 15 */
} port_vectors;

extern const port_vectors port_vector_table;
__attribute__((section(".vectors"), used)) const port_vectors port_vector_table = {
    port_stack_top,
    { reset, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault,
      fault, sys_tick }
};

/* ---- SysTick ---- */

void port_every(uint16_t hertz, port_function tick) {
    tick_function = tick;
    SYST_CSR = 0;
    SYST_RVR = (uint32_t)(1000000000u / PORT_TICK_PS * 1000u) / hertz - 1;
    SYST_CVR = 0;
    SYST_CSR = 7; /* processor's clock, interrupt, on */
}

void port_sleep(void) {
    __asm__ volatile("wfi" : : : "memory");
}

__attribute__((noinline)) uint32_t port_count(void) {
    if (SYST_CSR != 5) {
        SYST_RVR = 0xFFFFFF;
        SYST_CVR = 0;
        SYST_CSR = 5; /* processor's clock, on */
    }
    return 0xFFFFFF - SYST_CVR;
}

/* What QEMU says of SysTick while it wraps is not to be relied on. */
void port_count_anew(void) {
    SYST_CSR = 0;
    (void)port_count();
}

static uint32_t instructions(uint32_t from, uint32_t to) {
    uint64_t picoseconds = (uint64_t)((to - from) & 0xFFFFFF) * PORT_TICK_PS;
    return (uint32_t)((picoseconds + 500u * PORT_ICOUNT_NS) / (1000u * PORT_ICOUNT_NS));
}

uint32_t port_between(uint32_t from, uint32_t to) {
    uint32_t one = port_count();
    uint32_t other = port_count();
    return instructions(from, to) - instructions(one, other);
}

/* ---- stack ---- */

#define PORT_READ_SP "mov %0, sp"
#include "port_stack.h"
