/* Machines with an operating system and a libc. */
#include <stdio.h>
#include <stdlib.h>
#include "port.h"

void port_text(const char *text) {
    fputs(text, stdout);
}

void port_exit(int code) {
    exit(code);
}
