/* RV32 on QEMU's `virt` board: start-up, text by the UART, exit by its test device, the CLINT's
   timer; instructions by minstret, which QEMU counts exactly with -icount. */
#include "port.h"

extern uint32_t port_stack_top[];

#define UART (*(volatile uint8_t *)0x10000000u)
#define TEST (*(volatile uint32_t *)0x00100000u)
#define MTIMECMP ((volatile uint32_t *)0x02004000u)
#define MTIME ((volatile uint32_t *)0x0200BFF8u)
#define MTIME_HERTZ 10000000u

/* mtvec before anything that may trap; the floating-point unit is off after reset. */
__asm__(
    ".section .init\n"
    ".globl _start\n"
    "_start:\n"
    "    .option push\n"
    "    .option norelax\n"
    "    la gp, __global_pointer$\n"
    "    .option pop\n"
    "    la sp, port_stack_top\n"
    "    la t0, port_trap\n"
    "    csrw mtvec, t0\n"
#ifdef __riscv_flen
    "    li t0, 0x2000\n"
    "    csrs mstatus, t0\n"
    "    csrw fcsr, zero\n"
#endif
    "    la t0, port_bss\n"
    "    la t1, port_bss_end\n"
    "1:  bgeu t0, t1, 2f\n"
    "    sw zero, 0(t0)\n"
    "    addi t0, t0, 4\n"
    "    j 1b\n"
    "2:  call main\n"
    "    call port_exit\n"
    ".text\n");

void port_text(const char *text) {
    while (*text != 0) UART = (uint8_t)*text++;
}

void port_exit(int code) {
    TEST = code == 0 ? 0x5555u : (uint32_t)code << 16 | 0x3333u;
    for (;;) {
    }
}

/* ---- the timer; every other trap is a fault ---- */

static port_function tick_function;
static uint64_t period, next;

static void set_timer(uint64_t time) {
    MTIMECMP[1] = 0xFFFFFFFFu; /* no interrupt from a time half written */
    MTIMECMP[0] = (uint32_t)time;
    MTIMECMP[1] = (uint32_t)(time >> 32);
}

static uint64_t now(void) {
    uint32_t high, low;
    do {
        high = MTIME[1];
        low = MTIME[0];
    } while (high != MTIME[1]);
    return (uint64_t)high << 32 | low;
}

extern void port_trap(void);
__attribute__((interrupt("machine"), aligned(4), used)) void port_trap(void) {
    uint32_t cause;
    __asm__ volatile("csrr %0, mcause" : "=r"(cause));
    if (cause != 0x80000007u) port_exit(PORT_FAULT);
    while (next <= now()) next += period; /* ticks that came too late are lost, as SysTick's */
    set_timer(next);
    tick_function();
}

void port_every(uint16_t hertz, port_function tick) {
    tick_function = tick;
    period = MTIME_HERTZ / hertz;
    next = now() + period;
    set_timer(next);
    __asm__ volatile("csrs mie, %0\n csrs mstatus, 8" : : "r"(1u << 7) : "memory");
}

void port_sleep(void) {
    __asm__ volatile("wfi" : : : "memory");
}

/* ---- counter, stack ---- */

__attribute__((noinline)) uint32_t port_count(void) {
    uint32_t count;
    __asm__ volatile("csrr %0, minstret" : "=r"(count) : : "memory");
    return count;
}

void port_count_anew(void) { }

uint32_t port_between(uint32_t from, uint32_t to) {
    uint32_t one = port_count();
    uint32_t other = port_count();
    return (to - from) - (other - one);
}

#define PORT_READ_SP "mv %0, sp"
#include "port_stack.h"
