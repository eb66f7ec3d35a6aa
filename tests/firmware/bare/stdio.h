/* What the examples use of <stdio.h>, where there is no libc; see print.c. */
#ifndef BARE_STDIO_H
#define BARE_STDIO_H

typedef struct bare_file FILE;
#define stderr ((FILE *)0)
int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
int puts(const char *text);
#ifdef __AVR__ /* its string constants take RAM: the sentences of mdyn_text alone half of it */
#define fprintf(file, ...) puts("mimicdyn: an error")
#endif

#endif
