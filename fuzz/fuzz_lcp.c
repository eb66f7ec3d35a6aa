/* Bytes become a complementarity problem for both solvers; whatever they say, an answer must come,
   and what is called solved must be solved.

   clang -std=c99 -g -O1 -DMIMICDYN_SCALAR=F32 -DEXPECT_SCALAR_F32=1 -I. \
       -fsanitize=fuzzer,address,undefined,float-cast-overflow -fno-sanitize-recover=all \
       fuzz/fuzz_lcp.c -lm -o build/fuzz_lcp && build/fuzz_lcp fuzz/corpus/fuzz_lcp

   Without libFuzzer: fuzz/standalone.c. The first byte says whether the input is CALM: A = G G^T of
   whole numbers, valid bounds, which must be accepted. In any other every number may be anything.
   All is done twice, in rooms that began as different garbage: what is read before it was written
   shows as a difference. */
#ifndef PLATFORMIO /* which would compile it into the firmware */
#define MIMICDYN_MAX_BODIES 1
#define MIMICDYN_IMPLEMENTATION
#include "mimicdyn.h"
#include "tests/check.h"

enum { ROWS = 12, ROOM = MDYN_LCP_SCRATCH(ROWS) };

#define REQUIRE(condition) ((condition) ? (void)0 : broken(__LINE__, #condition))

static void broken(int line, const char *condition) {
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, condition);
    abort();
}

/* ---- bytes to a problem ---- */

typedef struct input {
    const uint8_t *data;
    size_t size, at;
} input;

static unsigned take_u8(input *in) {
    return in->at < in->size ? in->data[in->at++] : 0;
}

static int take_int(input *in) {
    return (int)take_u8(in) - 128;
}

static struct trial {
    mdyn_wide A[ROWS * ROWS], b[ROWS], lo[ROWS], hi[ROWS], x[2][ROWS], w[2][ROWS];
    mdyn_wide held_lo[ROWS], held_hi[ROWS], first[ROWS];
    int16_t findex[ROWS];
    mdyn_lcp_cell room[2][ROOM];
    mdyn_lcp problem;
    mdyn_solver solver;
} t;

static mdyn_wide take_any(input *in) {
    static const double special[] = { 0, -0.0, 1, -1, 1e12, -1e12, 1e15, -1e15, 2e15, 1e-30,
                                      9e-31, 1e-38, 1e-45, 1e30, 3.4e38, 1e-12 };
    mdyn_wide number;
    uint8_t byte[sizeof number];
    switch (take_u8(in) & 7) {
    case 0:
        for (size_t i = 0; i < sizeof byte; i++) {
            byte[i] = (uint8_t)take_u8(in);
        }
        memcpy(&number, byte, sizeof number);
        return number;
    case 1: return wide(special[take_u8(in) & 15]);
    case 2: {
        const int digits = take_int(in);
        return wide(ldexp(digits, take_int(in)));
    }
    default: return wide(take_int(in) / 16.0);
    }
}

/* Powers of ten apart by `spread`; a byte gives a row of G its scale. */
static void take_calm(input *in, int n) {
    int factor[ROWS][ROWS], rank = 1 + (int)take_u8(in) % ROWS, spread = (int)take_u8(in) % 4;
    double scale[ROWS];
    for (int i = 0; i < n; i++) {
        scale[i] = pow(10, spread == 0 ? 0 : take_int(in) % (2 * spread));
        for (int k = 0; k < rank; k++) {
            factor[i][k] = take_int(in) / 16;
        }
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < rank; k++) {
                sum += factor[i][k] * factor[j][k];
            }
            t.A[i * n + j] = t.A[j * n + i] = wide(sum * scale[i] * scale[j]);
        }
        t.b[i] = wide(take_int(in) / 16 * scale[i]);
        t.findex[i] = -1;
        int kind = (int)take_u8(in), low = take_int(in) / 16, way = (int)take_u8(in) % 8;
        t.lo[i] = (kind & 1) != 0 ? -MDYN_UNLIMITED : wide(low / scale[i]);
        t.hi[i] = (kind & 2) != 0 ? MDYN_UNLIMITED : wide((low + way) / scale[i]);
        if ((kind & 0x70) == 0x70 && i > 0 && t.findex[i - 1] < 0) {
            t.findex[i] = (int16_t)(i - 1);
            t.hi[i] = wide(way / 4.0);
        }
    }
}

static void take_wild(input *in, int n) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            t.A[i * n + j] = take_any(in);
        }
        t.b[i] = take_any(in);
        t.lo[i] = take_any(in);
        t.hi[i] = take_any(in);
        t.findex[i] = (int16_t)(take_u8(in) & 3 ? -1 : take_int(in));
    }
}

/* ---- what must hold ---- */

static int is_code(int code) {
    static const int codes[] = {
#define CODE(name, value, sentence, remedy) value,
        MDYN_CODES(CODE)
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (codes[i] == code) {
            return 1;
        }
    }
    return 0;
}

static long double of(mdyn_wide number) {
    return (long double)of_wide(number);
}

/* Row i of x: by how much it misses its conditions, beside the magnitudes in it; bounds of friction
   by `normals`. A miss that is below the smallest normal number of float or double, as a change of
   x or of w, counts as 0. */
static long double missing(const mdyn_wide *x, const mdyn_wide *normals, int i) {
    const mdyn_lcp *p = &t.problem;
    const long double none = of(MDYN_UNLIMITED);
    int k = p->findex[i];
    long double w = -of(t.b[i]), size = fabsl(w), y = of(x[i]), a = of(t.A[i * p->n + i]);
    long double low = of(t.lo[i]), high = of(t.hi[i]);
    if (k >= 0) {
        low = of(normals[k]);
        high = low == 0 ? 0 : fabsl(high) >= none ? HUGE_VALL : fabsl(high * low);
        if (fabsl(fabsl(y) - high) <= 4 * (long double)check_epsilon * high) {
            high = fabsl(y); /* that product is rounded in the library */
        }
        low = -high;
    } else {
        low = low <= -none ? -HUGE_VALL : low;
        high = high >= none ? HUGE_VALL : high;
    }
    for (int j = 0; j < p->n; j++) {
        long double term = of(t.A[(i > j ? i : j) * p->n + (i > j ? j : i)]) * of(x[j]);
        w += term;
        size += fabsl(term);
    }
    a = a > 0 ? a : 1;
    w = y - w / a;
    w = fabsl(y - (w < low ? low : w > high ? high : w));
    return fminl(w, w * a) > (long double)BY_SCALAR(DBL_MIN, (double)FLT_MIN, 0) ? w * a / size : 0;
}

/* The first of two stages, a problem of its own: friction is held at 0. Returns whether it is
   solved; if not, the bounds of friction are by the x that there is. */
static int solve_first_stage(void) {
    mdyn_lcp held = t.problem;
    for (int i = 0; i < held.n; i++) {
        t.held_lo[i] = held.findex[i] >= 0 ? wide(0) : t.lo[i];
        t.held_hi[i] = held.findex[i] >= 0 ? wide(0) : t.hi[i];
    }
    held.lo = t.held_lo;
    held.hi = t.held_hi;
    held.findex = NULL;
    int code = mdyn_lcp_dantzig(&held, t.first, NULL, t.room[0], ROOM, NULL);
    REQUIRE(code == MDYN_OK);
    return 1;
}

static void require_solved(const mdyn_wide *x, const mdyn_lcp_report *report) {
    static const mdyn_wide none[ROWS];
    const int stages = t.problem.friction_law == MDYN_TWO_STAGE;
    const int firm = stages && solve_first_stage();
    const double promised = BY_SCALAR(4.6e-13, 2.5e-4, 2e-6) / (stages ? 8 : 1);
    REQUIRE(report->row == -1 && of_wide(report->residual) <= promised);
    for (int i = 0; i < t.problem.n; i++) {
        REQUIRE(missing(x, stages ? t.first : x, i) <= (long double)promised);
        REQUIRE(!firm || missing(t.first, none, i) <= (long double)promised);
    }
}

static void require_finite(const mdyn_wide *x) {
    const double none = of_wide(MDYN_UNLIMITED);
    for (int i = 0; i < t.problem.n; i++) {
        REQUIRE(fabs(of_wide(x[i])) < 1.2e15);
        if (t.problem.findex[i] < 0) {
            double low = of_wide(t.lo[i]), high = of_wide(t.hi[i]), y = of_wide(x[i]);
            REQUIRE(low <= -none || y >= low);
            REQUIRE(high >= none || y <= high);
        }
    }
}

/* One solver, twice; the second call may not know what the first one's room was filled with. */
static int solve(int iterations, mdyn_lcp_report *report) {
    int code[2], n = t.problem.n, room = iterations ? MDYN_PGS_SCRATCH(n) : MDYN_LCP_SCRATCH(n);
    memset(t.x, 0x3D, sizeof t.x);
    memset(t.w, 0x3D, sizeof t.w);
    for (int i = 0; i < 2; i++) {
        memset(t.room[i], i == 0 ? 0x00 : 0xA5, sizeof t.room[i]);
        code[i] = iterations
            ? mdyn_lcp_pgs(&t.problem, &t.solver, t.x[i], t.w[i], t.room[i], room, report)
            : mdyn_lcp_dantzig(&t.problem, t.x[i], t.w[i], t.room[i], room, report);
    }
    REQUIRE(code[0] == code[1] && is_code(code[0]));
    REQUIRE(memcmp(t.x[0], t.x[1], sizeof t.x[0]) == 0);
    REQUIRE(memcmp(t.w[0], t.w[1], sizeof t.w[0]) == 0);
    REQUIRE(code[0] < 0 || (of_wide(report->residual) >= 0 && isfinite(of_wide(report->residual))));
    REQUIRE(report->row >= -1 && report->row < (n > 0 ? n : 1));
    if (code[0] < 0) {
        const uint8_t *bytes = (const uint8_t *)t.x[0];
        for (size_t i = 0; i < sizeof t.x[0]; i++) {
            REQUIRE(bytes[i] == 0x3D);
        }
    } else {
        require_finite(t.x[0]);
    }
    return code[0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = { data, size, 0 };
    int calm = (take_u8(&in) & 1) != 0, n = (int)take_u8(&in) % (ROWS + 1), code, omega;
    mdyn_lcp_report report;
    memset(&t, 0, sizeof t);
    mdyn_lcp p = { n, t.A, t.b, t.lo, t.hi, t.findex, MDYN_TWO_STAGE };
    t.problem = p;
    t.solver.iterations = (uint16_t)take_u8(&in);
    omega = calm ? (int)take_u8(&in) : 0; /* 0 or 0.01 to 2 */
    t.solver.relaxation = calm ? wide((omega == 1 ? 2 : omega) / 128.0) : take_any(&in);
    t.solver.tolerance = calm ? wide(0) : take_any(&in);
    t.solver.start = MDYN_COLD;
    if (calm) {
        take_calm(&in, n);
    } else {
        take_wild(&in, n);
    }
    for (int stages = 1; stages <= 2; stages++) {
        t.problem.friction_law = stages == 1 ? MDYN_PYRAMID : MDYN_TWO_STAGE;
        code = solve(0, &report);
        REQUIRE(!calm || code >= 0 || code == MDYN_ERR_RESULT);
        REQUIRE(report.iterations <= (8 * n + 32) * (stages == 1 ? 257 : 2));
        if (code == MDYN_OK) {
            require_solved(t.x[0], &report);
        }
    }
    code = solve(1, &report);
    REQUIRE(!calm || code >= 0 || code == MDYN_ERR_RESULT);
    REQUIRE(report.iterations <= (t.solver.iterations != 0 ? t.solver.iterations : 100));
    return 0;
}
#endif
