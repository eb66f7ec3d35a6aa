/* Drives a fuzz harness without libFuzzer: any compiler, any machine.

   cc -std=c99 -DMIMICDYN_SCALAR=F32 -DEXPECT_SCALAR_F32=1 -I. fuzz/standalone.c \
       fuzz/fuzz_model.c -lm -o build/replay_model
   build/replay_model FILE...               each file is an input
   build/replay_model --random COUNT SEED   inputs made up, the same on every machine
   build/replay_model --seconds TIME SEED   the same inputs, for a time
   build/replay_model --input NUMBER SEED   one of them

   A harness that finds something wrong aborts; the last line printed says with which input. For
   sanitizers: ASAN_OPTIONS=abort_on_error=1 UBSAN_OPTIONS=abort_on_error=1. */
#ifndef PLATFORMIO /* which would compile it into the firmware */
#if defined(__unix__) || defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>
#else
#define alarm(seconds) ((void)(seconds)) /* where there is none, an endless input stays one */
#endif
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST = 1 << 16 };
static uint8_t bytes[LARGEST];

static const char *current_file;
static unsigned long current_number;

/* The program is lost already, so printing from a signal handler can do no harm. */
static void last_words(int which) {
    if (current_file != NULL) {
        fprintf(stderr, "with the input %s\n", current_file);
    } else {
        fprintf(stderr, "with the random input %lu\n", current_number);
    }
    signal(which, SIG_DFL);
    raise(which);
}

static int run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s: cannot be opened\n", path);
        return 0;
    }
    size_t size = fread(bytes, 1, sizeof bytes, file);
    int whole = !ferror(file) && feof(file);
    fclose(file);
    if (!whole) {
        fprintf(stderr, "%s: cannot be read, or larger than %d bytes\n", path, (int)LARGEST);
        return 0;
    }
    current_file = path;
    LLVMFuzzerTestOneInput(bytes, size);
    return 1;
}

static uint32_t random_word(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t mixed = (*state ^ *state >> 22) >> (22 + (*state >> 61));
    return (uint32_t)(mixed & 0xFFFFFFFFu);
}

/* Half of them of bytes that are often small, which are more often valid. */
static void run_random(unsigned long number, uint64_t seed) {
    uint64_t state = (seed << 32) ^ number;
    size_t size = 1 + (random_word(&state), random_word(&state)) % 2048;
    uint32_t small = random_word(&state) & 1;
    for (size_t i = 0; i < size; i++) {
        uint32_t word = random_word(&state);
        uint32_t mask = small != 0 && (word & 0x300) == 0 ? 7 : 255;
        bytes[i] = (uint8_t)(word & mask);
    }
    current_number = number;
    alarm(60); /* no input takes so long */
    LLVMFuzzerTestOneInput(bytes, size);
}

int main(int argc, char **argv) {
    signal(SIGABRT, last_words);
#ifdef SIGALRM
    signal(SIGALRM, last_words);
#endif
    signal(SIGSEGV, last_words);
    signal(SIGFPE, last_words);
    signal(SIGILL, last_words);
    if (argc == 4 && strcmp(argv[1], "--seconds") == 0) {
        const time_t end = time(NULL) + (time_t)strtoul(argv[2], NULL, 10);
        const uint64_t seed = strtoul(argv[3], NULL, 10);
        unsigned long i = 0;
        for (; time(NULL) < end; i++) {
            run_random(i, seed);
        }
        printf("%lu random inputs\n", i);
        return i == 0;
    }
    if (argc == 4 && strcmp(argv[1], "--random") == 0) {
        unsigned long count = strtoul(argv[2], NULL, 10);
        uint64_t seed = strtoul(argv[3], NULL, 10);
        for (unsigned long i = 0; i < count; i++) {
            run_random(i, seed);
        }
        printf("%lu random inputs\n", count);
        return count == 0;
    }
    if (argc == 4 && strcmp(argv[1], "--input") == 0) {
        run_random(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
        return 0;
    }
    if (argc < 2 || argv[1][0] == '-') {
        fprintf(stderr, "usage: %s FILE... | --random COUNT SEED | --seconds TIME SEED | "
                "--input NUMBER SEED\n", argv[0]);
        return 2;
    }
    int run = 0;
    for (int i = 1; i < argc; i++) {
        run += run_file(argv[i]);
    }
    printf("%d of %d files\n", run, argc - 1);
    return run != argc - 1;
}
#endif
