/* What is used of <stdlib.h> where there is no libc; see print.c. Nothing on the boards calls
   strtoull. */
#ifndef BARE_STDLIB_H
#define BARE_STDLIB_H

#include <stddef.h>

void exit(int code);
unsigned long long strtoull(const char *text, char **end, int base);

#endif
