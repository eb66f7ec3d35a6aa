/* What compilers may ask for where there is no libc: struct copies become memcpy, zeroed structs
   memset. The empty asm keeps the loops from being turned into calls of themselves. */
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);

void *memcpy(void *to, const void *from, size_t count) {
    char *t = to;
    const char *f = from;
    while (count-- > 0) {
        *t++ = *f++;
        __asm__ volatile("" : : : "memory");
    }
    return to;
}

void *memset(void *to, int value, size_t count) {
    char *t = to;
    while (count-- > 0) {
        *t++ = (char)value;
        __asm__ volatile("" : : : "memory");
    }
    return to;
}
