/* Compares the trajectories of accuracy.c in three scalars: FIXED has to be nearer to F64 than F32
   is, by as much as the README says.

   build   cc -std=c99 -O2 tests/test_accuracy.c -lm -o build/test_accuracy
   run     build/test_accuracy F64 F32 FIXED      the files that the three builds have written

   Prints the table of the README and what is wrong; the last line counts. Bounds of named
   mechanisms are a third of what was measured, or less. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCALARS = 3, NUMBERS = 32, BLOCKS = 3, RUNS = 400, STEPS = 10000, LINE = 4000 };
enum { F64, F32, FIXED };

typedef struct sample {
    char group[16];
    int id, count[BLOCKS];
    double x[BLOCKS][NUMBERS];
} sample;

/* Sums of squares over one run, of F32 and FIXED; of coordinates and of couplings. */
typedef struct history {
    char group[16];
    int id;
    long count[2];
    double sum[2][SCALARS], worst[2][SCALARS];
} history;

static history run[RUNS];
static int runs;
static double step_error[SCALARS][STEPS];
static int steps;
static double last[SCALARS];
static long passed, failed;

static void check(int good, const char *what, double got, double bound) {
    if (good) {
        passed++;
    } else {
        failed++;
        printf("not so: %s: %.3g, wanted %.3g\n", what, got, bound);
    }
}

/* 0 at the end of the file. */
static int next(FILE *file, sample *s) {
    static char line[LINE];
    if (fgets(line, LINE, file) == NULL) {
        return 0;
    }
    char *at = strtok(line, " \n");
    memset(s, 0, sizeof *s);
    strncpy(s->group, at, sizeof s->group - 1);
    s->id = atoi(strtok(NULL, " \n"));
    for (int b = 0; (at = strtok(NULL, " \n")) != NULL && b < BLOCKS; b++) {
        s->count[b] = atoi(at);
        for (int i = 0; i < s->count[b] && i < NUMBERS; i++) {
            s->x[b][i] = strtod(strtok(NULL, " \n"), NULL);
        }
    }
    return 1;
}

/* The error of the change of speed, in the metric of the diagonal of M, over the change. */
static void take_step(const sample s[SCALARS]) {
    double size = 0, error[SCALARS] = { 0, 0, 0 };
    for (int i = 0; i < s[F64].count[0]; i++) {
        double w = s[F64].x[2][i], change = w * (s[F64].x[0][i] - s[F64].x[1][i]);
        size += change * change;
        for (int k = F32; k <= FIXED; k++) {
            double e = w * (s[k].x[0][i] - s[F64].x[0][i]);
            error[k] += e * e;
        }
    }
    for (int k = F32; k <= FIXED && steps < STEPS; k++) {
        step_error[k][steps] = sqrt(error[k] / size);
    }
    steps++;
}

static void take(const sample s[SCALARS]) {
    history *r = runs > 0 ? &run[runs - 1] : NULL;
    if (r == NULL || strcmp(r->group, s[F64].group) != 0 || r->id != s[F64].id) {
        r = &run[runs++];
        strcpy(r->group, s[F64].group);
        r->id = s[F64].id;
    }
    for (int b = 0; b < 2; b++) {
        r->count[b] += s[F64].count[b];
        for (int i = 0; i < s[F64].count[b]; i++) {
            for (int k = F64; k <= FIXED; k++) {
                double e = s[k].x[b][i] - (b == 0 ? s[F64].x[b][i] : 0);
                r->sum[b][k] += e * e;
                if (!(fabs(e) <= r->worst[b][k]) && !isnan(r->worst[b][k])) {
                    r->worst[b][k] = fabs(e); /* a NaN stays */
                }
            }
        }
    }
    for (int k = F64; k <= FIXED; k++) {
        last[k] = s[k].x[0][0];
    }
}

static double rms(const history *r, int block, int scalar) {
    return r->count[block] > 0 ? sqrt(r->sum[block][scalar] / (double)r->count[block]) : 0;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The value below which the part `part` of x lies; sorts x. */
static double quantile(double *x, int n, double part) {
    qsort(x, (size_t)n, sizeof *x, ascending);
    return x[(int)(part * (n - 1) + 0.5)];
}

static void row(const char *text, double a, double b, double c, double d) {
    printf("| %s | %.1e | %.1e | %.0f | ", text, a, b, a / b);
    if (c > 0 || d > 0) {
        printf("%.1e | %.1e |\n", c, d);
    } else {
        printf("- | - |\n");
    }
}

/* Random trees of one group: how many are nearer, and by how much in the middle. */
static void judge_trees(const char *group, const char *text) {
    static double ratio[RUNS], of[4][RUNS];
    int n = 0, nearer = 0, coupled = 0, tighter = 0;
    for (int i = 0; i < runs; i++) {
        history *r = &run[i];
        if (strcmp(r->group, group) != 0) {
            continue;
        }
        for (int k = 0; k < 2; k++) {
            of[k][n] = rms(r, 0, F32 + k);
        }
        ratio[n] = of[0][n] / of[1][n];
        nearer += of[1][n] < of[0][n];
        if (r->count[1] > 0) {
            of[2][coupled] = rms(r, 1, F32);
            of[3][coupled] = rms(r, 1, FIXED);
            /* or as good as the last digit of the coordinates, 2^-40, lets it be */
            tighter += of[3][coupled] <= fmax(of[2][coupled], 0x1p-39);
            coupled++;
        }
        n++;
    }
    if (n == 0 || coupled == 0) {
        check(0, "there are trees", n, 1);
        return;
    }
    double middle = quantile(ratio, n, 0.5);
    double a = quantile(of[0], n, 0.5), b = quantile(of[1], n, 0.5);
    printf("| %d random trees, %s | %.1e | %.1e | %.0f | %.1e | %.1e |\n", n, text, a, b, middle,
           quantile(of[2], coupled, 0.5), quantile(of[3], coupled, 0.5));
    check(100 * nearer >= 98 * n, "trees nearer in position, of 100", 100.0 * nearer / n, 98);
    check(tighter == coupled, "trees nearer in coupling error", tighter, coupled);
    check(middle >= 10, "nearer in the middle, times", middle, 10);
}

static const history *named(const char *group) {
    for (int i = 0; i < runs; i++) {
        if (strcmp(run[i].group, group) == 0) {
            return &run[i];
        }
    }
    check(0, group, 0, 1);
    return NULL;
}

/* A mechanism has to be nearer by `times`, its couplings held to `C`. */
static void judge(const char *group, const char *text, double times, double C) {
    const history *r = named(group);
    if (r != NULL) {
        double a = rms(r, 0, F32), b = rms(r, 0, FIXED);
        row(text, a, b, rms(r, 1, F32), rms(r, 1, FIXED));
        check(b * times <= a, text, a / b, times);
        check(r->worst[1][FIXED] <= C, "its couplings", r->worst[1][FIXED], C);
    }
}

int main(int argc, char **argv) {
    FILE *file[SCALARS];
    static sample s[SCALARS];
    for (int k = 0; k < SCALARS; k++) {
        file[k] = argc == SCALARS + 1 ? fopen(argv[k + 1], "r") : NULL;
        if (file[k] == NULL) {
            fprintf(stderr, "usage: %s F64 F32 FIXED\n", argv[0]);
            return 2;
        }
    }
    double slow[SCALARS] = { 0, 0, 0 };
    while (next(file[F64], &s[F64])) {
        for (int k = F32; k <= FIXED; k++) {
            if (!next(file[k], &s[k]) || strcmp(s[k].group, s[F64].group) != 0 ||
                s[k].id != s[F64].id || s[k].count[0] != s[F64].count[0]) {
                printf("the files are not of the same mechanisms\n1 failed\n");
                return 1;
            }
        }
        if (strcmp(s[F64].group, "step") == 0) {
            take_step(s);
        } else if (runs < RUNS) {
            take(s);
            if (strcmp(s[F64].group, "slow") == 0) {
                memcpy(slow, last, sizeof slow);
            }
        }
    }
    printf("| rms distance from F64 | F32 | FIXED | nearer, times | coupling error, F32 | FIXED |\n"
           "| --- | ---: | ---: | ---: | ---: | ---: |\n");
    judge_trees("tree-10", "1 s at 10 ms");
    judge_trees("tree-1", "1 s at 1 ms");
    judge_trees("tree-0.1", "1 s at 0.1 ms");
    judge("gripper", "gripper, motor of 1e-6 kg m^2", 30, 5e-12);
    judge("hand", "hand of 20 joints", 8, 4e-12);
    judge("arm", "arm with gripper, motor of 1e-7 kg m^2", 1, 5e-12);
    judge("planetary", "planetary gear, sun to 300 rad/s", 300, 3e-10);
    judge("chain", "chain of 12 joints", 5, 0);
    judge("turns", "1000 s at 300 rad/s through 100 : 1", 5000, 1e-9);
    check(steps == STEPS, "single steps", steps, STEPS);
    if (steps == STEPS) {
        double a = quantile(step_error[F32], STEPS, 0.99);
        double b = quantile(step_error[FIXED], STEPS, 0.99);
        row("one step, 99 of 100 below", a, b, 0, 0);
        check(b * 10 <= a, "single steps, 99 of 100, times", a / b, 10);
        a = step_error[F32][STEPS - 1];
        b = step_error[FIXED][STEPS - 1];
        row("one step, worst of 10000", a, b, 0, 0);
        check(b * 3 <= a, "single steps, worst, times", a / b, 3);
    }
    double way = slow[FIXED] / slow[F64];
    check(fabs(way - 1) < 1e-3, "10 kg m^2 under 1e-5 N m: part of its way", way, 1);
    printf("%ld passed, %ld failed\n", passed, failed);
    return failed != 0;
}
