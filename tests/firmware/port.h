/* port.h - what a program needs of a machine: text out, an exit code, a counter of instructions,
   a timer's interrupt, the depth of the stack. One port_*.c for each kind of machine; no libc.
   Microcontrollers have all of it, hosts (port_host.c, port_wasm.c) text and exit code. */
#ifndef PORT_H
#define PORT_H

#include <stdint.h>

/* Text goes where the program's output goes: semihosting, a UART, stdout. */
void port_text(const char *text);

/* Ends the run with this exit code, 0 to 125. Does not return. The emulators' other codes:
   PORT_FAULT if the processor met an instruction or address that it does not have. */
__attribute__((used)) void port_exit(int code);
enum { PORT_FAULT = 99 };

/* Calls tick that many times in a second, from the timer's interrupt; 16 Hz and more.
   port_sleep waits for an interrupt. */
typedef void (*port_function)(void);
void port_every(uint16_t hertz, port_function tick);
void port_sleep(void);

/* A running counter, and the instructions (AVR: cycles) between two readings of it, less those
   of the readings themselves. At most ten million. Not beside port_every. */
uint32_t port_count(void);
void port_count_anew(void); /* before a measurement, so that the counter does not wrap in it */
uint32_t port_between(uint32_t from, uint32_t to);

/* Fills the free stack, and says how much of it was written since: bytes below the caller's own
   stack pointer. */
void port_stack_paint(void);
uint32_t port_stack_used(void);

/* What start-up code calls; named in assembly, where link-time optimization does not look. */
__attribute__((used)) int main(void);

#endif
