/* What the examples use of a libc, for boards that have none: printf of %d %ld %s %c %% and of
   %f %e %g, the last three all as a decimal fraction or, where that is long, with an exponent; six
   digits, no widths. Enough to read what a check says. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "port.h"

static void put(char c) {
    char text[2];
    text[0] = c;
    text[1] = 0;
    port_text(text);
}

static void put_integer(int32_t x) {
    uint32_t rest = x < 0 ? 0u - (uint32_t)x : (uint32_t)x, digit = 1;
    if (x < 0) put('-');
    while (rest / digit >= 10) digit *= 10;
    for (; digit > 0; digit /= 10) put((char)('0' + rest / digit % 10));
}

static void put_number(double x) {
    int exponent = 0, i;
    int32_t digits;
    if (x < 0) {
        put('-');
        x = -x;
    }
    if (!(x < 1e30)) {
        port_text("beyond 1e30");
        return;
    }
    if (x != 0) {
        while (x >= 9.999995) x /= 10, exponent++;
        while (x < 0.9999995 && exponent > -40) x *= 10, exponent--;
    }
    digits = (int32_t)(x * 100000 + 0.5);
    put_integer(digits / 100000);
    put('.');
    for (i = 0, digits %= 100000; i < 5; i++, digits = digits % 10000 * 10)
        put((char)('0' + digits / 10000));
    if (exponent != 0) {
        put('e');
        put_integer(exponent);
    }
}

static void print(const char *format, va_list arguments) {
    for (; *format != 0; format++) {
        int is_long = 0;
        if (*format != '%') {
            put(*format);
            continue;
        }
        do {
            is_long += *++format == 'l';
        } while (*format == 'l' || *format == '-' || *format == '+' || *format == '.' ||
                 (*format >= '0' && *format <= '9'));
        switch (*format) {
        case 'd':
            put_integer(is_long ? (int32_t)va_arg(arguments, long) : va_arg(arguments, int));
            break;
        case 's': port_text(va_arg(arguments, const char *)); break;
        case 'c': put((char)va_arg(arguments, int)); break;
        case 'e':
        case 'f':
        case 'g': put_number(va_arg(arguments, double)); break;
        default: put(*format);
        }
    }
}

int printf(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    return 0;
}

#ifndef __AVR__
int fprintf(FILE *file, const char *format, ...) {
    va_list arguments;
    (void)file;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    return 0;
}
#endif

int puts(const char *text) {
    port_text(text);
    put('\n');
    return 0;
}

void exit(int code) {
    port_exit(code);
    for (;;) {
    }
}
