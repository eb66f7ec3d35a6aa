/* What is used of <string.h> where there is no libc; see memory.c. Nothing on the boards calls
   strcmp. */
#ifndef BARE_STRING_H
#define BARE_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int strcmp(const char *a, const char *b);

#endif
