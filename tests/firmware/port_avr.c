/* ATmega2560 under avr_runner: vectors and start-up, text by UART 0, timer 1. What hardware does
   not have, an exit code and a counter of cycles, the runner gives in the three general purpose
   registers. */
#include <avr/io.h>
#include "port.h"

extern uint8_t _end; /* by avr-gcc's linker script */

/* Reset and timer 1 compare A; every other interrupt is a fault. libgcc's code that fills .data
   and clears .bss falls through from .init4 to .init9. */
__asm__(
    ".section .vectors,\"ax\",@progbits\n"
    "    jmp port_reset\n"
    "    .rept 16\n"
    "    jmp port_fault\n"
    "    .endr\n"
    "    jmp __vector_17\n"
    "    .rept 39\n"
    "    jmp port_fault\n"
    "    .endr\n"
    ".section .init2,\"ax\",@progbits\n"
    "port_reset:\n"
    "    clr r1\n"
    "    out 0x3f, r1\n"
    "    ldi r28, lo8(port_stack_top)\n"
    "    ldi r29, hi8(port_stack_top)\n"
    "    out 0x3e, r29\n"
    "    out 0x3d, r28\n"
    ".section .init9,\"ax\",@progbits\n"
    "    call main\n"
    "    call port_exit\n"
    "port_fault:\n"
    "    ldi r24, 99\n"
    "    ldi r25, 0\n"
    "    call port_exit\n"
    ".global __do_copy_data\n"
    ".global __do_clear_bss\n"
    ".text\n");

void port_text(const char *text) {
    UCSR0B = 1 << TXEN0;
    while (*text != 0) {
        while (!(UCSR0A & 1 << UDRE0)) {
        }
        UDR0 = (uint8_t)*text++;
    }
}

void port_exit(int code) {
    GPIOR1 = (uint8_t)code;
    for (;;) {
    }
}

/* ---- timer 1 ---- */

static port_function tick_function;

extern void __vector_17(void); /* avr-gcc knows interrupts by their names */
__attribute__((signal, used)) void __vector_17(void) {
    tick_function();
}

void port_every(uint16_t hertz, port_function tick) {
    tick_function = tick;
    TCCR1A = 0;
    OCR1A = (uint16_t)(F_CPU / 64 / hertz - 1);
    TCCR1B = 1 << WGM12 | 1 << CS11 | 1 << CS10; /* clears at OCR1A; a 64th of the clock */
    TIMSK1 = 1 << OCIE1A;
    __asm__ volatile("sei" : : : "memory");
}

void port_sleep(void) {
    __asm__ volatile("" : : : "memory");
}

/* ---- counter, stack ---- */

__attribute__((noinline)) uint32_t port_count(void) {
    uint32_t count;
    uint8_t i;
    GPIOR2 = 1; /* the runner notes its cycles */
    for (i = 0, count = 0; i < 4; i++) count = count << 8 | GPIOR0; /* ... and tells them */
    return count;
}

void port_count_anew(void) { }

uint32_t port_between(uint32_t from, uint32_t to) {
    uint32_t one = port_count();
    uint32_t other = port_count();
    return (to - from) - (other - one);
}

static uint8_t *painted_to;

__attribute__((noinline)) void port_stack_paint(void) {
    uint8_t *p;
    painted_to = (uint8_t *)SP + 1 + 3; /* above the return address */
    for (p = &_end; p < painted_to - 3; p++) *(volatile uint8_t *)p = 0xA5;
}

uint32_t port_stack_used(void) {
    const uint8_t *p = &_end;
    while (p < painted_to - 3 && *p == 0xA5) p++;
    return (uint32_t)(painted_to - p);
}
