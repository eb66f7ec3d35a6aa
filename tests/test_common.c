/* >>common: rotations, wrenches and inertias at another origin, small matrices and arrays, against
   the same in double: products of quaternions, sums over point masses, matrices of 6 by 6. */
#define MIMICDYN_MAX_BODIES 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                       F64      F32    FIXED */
TOLERANCE(ROTATION,    3e-15,  1.5e-6,    1e-8);
TOLERANCE(SHIFTED,     2e-14,    5e-6,    2e-7);
TOLERANCE(SOLVED,      5e-15,    3e-6,    2e-8);

enum { REPEATS = 300 };

static double number(md_num x) { return of_wide(md_to_wide(x)); }
static md_num num(double x) { return md_of_wide(wide(x)); }

static void random_vector(double *x, int n, double size) {
    for (int k = 0; k < n; k++) {
        x[k] = of_wide(wide(random_in(-size, size)));
    }
}

static void to_vec(md_vec *r, const double *x) { md_vec_set(r, num(x[0]), num(x[1]), num(x[2])); }

static void cross(double *r, const double *a, const double *b) {
    for (int k = 0; k < 3; k++) {
        r[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
}

/* ---- rotations ---- */

/* x rotated by a quaternion of any length: q x q* / |q|^2, as two products of quaternions. */
static void rotated(double *r, const double *q, const double *x) {
    double n2 = 0, w = 0, u[3], v[3], qu[3];
    for (int k = 0; k < 4; k++) {
        n2 += q[k] * q[k];
    }
    for (int k = 0; k < 3; k++) {
        w -= q[k + 1] * x[k];
    }
    cross(u, q + 1, x);
    for (int k = 0; k < 3; k++) {
        u[k] += q[0] * x[k];
        qu[k] = -q[k + 1];
    }
    cross(v, u, qu);
    for (int k = 0; k < 3; k++) {
        r[k] = (w * qu[k] + q[0] * u[k] + v[k]) / n2;
    }
}

static void test_quaternions(void) {
    for (int n = 0; n < REPEATS; n++) {
        double q[4], size = pow(10, random_in(-1, 1)), n2 = 0;
        random_vector(q, 4, size);
        if (n % 4) { /* near half a turn about x, y or z: each element once the largest */
            q[0] *= 1e-3;
            q[n % 4] = size;
        }
        mdyn_real given[4];
        for (int k = 0; k < 4; k++) {
            given[k] = real(q[k]);
            q[k] = of_real(given[k]);
            n2 += q[k] * q[k];
        }
        CHECK_NEAR(number(md_quaternion_norm2(given)) / n2, 1, ROTATION);

        md_mat R;
        md_mat_of_quaternion(&R, md_of_real(given[0]), md_of_real(given[1]), md_of_real(given[2]),
                             md_of_real(given[3]));
        for (int k = 0; k < 3; k++) {
            double e[3] = { k == 0, k == 1, k == 2 }, column[3];
            rotated(column, q, e);
            for (int i = 0; i < 3; i++) {
                CHECK_NEAR(number(md_mat_get(&R, 3 * i + k)), column[i], ROTATION);
            }
        }

        md_num back[4];
        md_quaternion_of_mat(back, &R);
        double unit = sqrt(n2) * (q[0] < 0 ? -1 : 1);
        CHECK(number(back[0]) >= 0);
        if (fabs(q[0]) > 1e-4 * fabs(unit)) { /* else q and -q are the same to rounding */
            for (int k = 0; k < 4; k++) {
                CHECK_NEAR(number(back[k]), q[k] / unit, ROTATION);
            }
        }
    }
}

/* Orthonormal, right-handed, z along the axis. */
static void test_axes(void) {
    for (int n = 0; n < REPEATS; n++) {
        double a[3], x[3][3], normal[3];
        md_vec axis;
        md_mat R;
        random_vector(a, 3, 2);
        if (n < 3) {
            a[0] = a[1] = a[2] = 0;
            a[n] = 1;
        }
        to_vec(&axis, a);
        md_mat_of_axis(&R, &axis);
        double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++) {
                x[k][i] = number(md_mat_get(&R, 3 * i + k));
            }
        }
        cross(normal, x[0], x[1]);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(x[2][i], a[i] / length, n < 3 ? 0 : 3 * ROTATION);
            CHECK_NEAR(normal[i], x[2][i], 3 * ROTATION);
        }
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(x[k][0] * x[k][0] + x[k][1] * x[k][1] + x[k][2] * x[k][2], 1, 3 * ROTATION);
        }
    }
}

/* Which coordinate axis x comes from is decided by the numbers given: of two that are equal the
   first, whatever their signs. */
static void test_equal_axes(void) {
    for (int n = 0; n < 8; n++) {
        const double a[3] = { n & 1 ? -1 : 1, n & 2 ? -1 : 1, n & 4 ? -1.5 : 1.5 };
        md_vec axis;
        md_mat R;
        to_vec(&axis, a);
        md_mat_of_axis(&R, &axis);
        CHECK(fabs(number(md_mat_get(&R, 0))) > 0.8 && fabs(number(md_mat_get(&R, 3))) < 0.5);
    }
}

/* ---- other origins ---- */

static void test_wrenches(void) {
    for (int n = 0; n < REPEATS; n++) {
        double to[6], f[6], arm[3], moment[3], s = random_in(-2, 2);
        md_force t, g;
        md_vec r;
        random_vector(to, 6, 3);
        random_vector(f, 6, 3);
        random_vector(arm, 3, 3);
        to_vec(&t.ang, to);
        to_vec(&t.lin, to + 3);
        to_vec(&g.ang, f);
        to_vec(&g.lin, f + 3);
        to_vec(&r, arm);
        cross(moment, arm, f + 3);
        md_force_add_shifted(&t, &g, &r);
        md_force_add_scaled(&t, num(s), &g);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(number(md_vec_get(&t.ang, k)), to[k] + (1 + s) * f[k] + moment[k],
                       3 * SHIFTED);
            CHECK_NEAR(number(md_vec_get(&t.lin, k)), to[k + 3] + (1 + s) * f[k + 3],
                       3 * SHIFTED);
        }
    }
}

/* mass, first moment and second moment (xx, yy, zz, xy, xz, yz) of four points about an origin. */
static void moments(double *r, double p[4][4], const double *origin) {
    memset(r, 0, 10 * sizeof *r);
    for (int n = 0; n < 4; n++) {
        double m = p[n][3], x = p[n][0] - origin[0], y = p[n][1] - origin[1],
               z = p[n][2] - origin[2];
        double add[10] = { m, m * x, m * y, m * z, m * (y * y + z * z), m * (x * x + z * z),
                           m * (x * x + y * y), -m * x * y, -m * x * z, -m * y * z };
        for (int k = 0; k < 10; k++) {
            r[k] += add[k];
        }
    }
}

static void to_composite(md_composite *c, const double *r) {
    md_num I[6];
    for (int k = 0; k < 6; k++) {
        I[k] = num(r[4 + k]);
    }
    c->mass = num(r[0]);
    to_vec(&c->first_moment, r + 1);
    md_sym_set(&c->second_moment, I);
}

static void test_composites(void) {
    for (int n = 0; n < REPEATS; n++) {
        double p[2][4][4], arm[3], r[2][10], want[2][10], zero[3] = { 0, 0, 0 }, minus[3];
        md_composite to, a;
        md_num I[6];
        md_vec shift;
        random_vector(arm, 3, 1);
        for (int b = 0; b < 2; b++) {
            for (int i = 0; i < 4; i++) {
                random_vector(p[b][i], 3, 1);
                p[b][i][3] = random_in(0.1, 1);
            }
            moments(r[b], p[b], zero);
        }
        for (int k = 0; k < 3; k++) { /* the second body's origin stands at `arm` */
            minus[k] = -arm[k];
        }
        moments(want[0], p[0], zero);
        moments(want[1], p[1], minus);
        to_composite(&to, r[0]);
        to_composite(&a, r[1]);
        to_vec(&shift, arm);
        md_composite_add_shifted(&to, &a, &shift);
        md_sym_get(I, &to.second_moment);
        CHECK_NEAR(number(to.mass), want[0][0] + want[1][0], SHIFTED);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(number(md_vec_get(&to.first_moment, k)), want[0][k + 1] + want[1][k + 1],
                       SHIFTED);
        }
        for (int k = 0; k < 6; k++) {
            CHECK_NEAR(number(I[k]), want[0][k + 4] + want[1][k + 4], SHIFTED);
        }
    }
}

/* [A B; B^T M] as a matrix of 6 by 6. */
static void to_dense(double D[6][6], const md_articulated *a) {
    static const int place[3][3] = { { 0, 3, 4 }, { 3, 1, 5 }, { 4, 5, 2 } };
    md_num A[6], M[6];
    md_sym_get(A, &a->angular);
    md_sym_get(M, &a->linear);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            D[i][j] = number(A[place[i][j]]);
            D[i + 3][j + 3] = number(M[place[i][j]]);
            D[i][j + 3] = D[j + 3][i] = number(md_mat_get(&a->cross, 3 * i + j));
        }
    }
}

static void random_articulated(md_articulated *a) {
    md_num x[9];
    for (int part = 0; part < 3; part++) {
        for (int k = 0; k < 9; k++) {
            x[k] = num(random_in(-1, 1));
        }
        if (part == 0) {
            md_sym_set(&a->angular, x);
        } else if (part == 1) {
            md_mat_set(&a->cross, x);
        } else {
            md_sym_set(&a->linear, x);
        }
    }
}

/* to + X D X^T with X = [1 [r]; 0 1], which carries wrenches to the other origin; - W W^T. */
static void test_articulated(void) {
    for (int n = 0; n < REPEATS; n++) {
        double D[6][6], to_D[6][6], got[6][6], arm[3], W[6];
        md_articulated to, a;
        md_force w;
        md_vec r;
        random_vector(arm, 3, 1);
        random_vector(W, 6, 1);
        random_articulated(&to);
        random_articulated(&a);
        to_dense(to_D, &to);
        to_dense(D, &a);
        to_vec(&r, arm);
        to_vec(&w.ang, W);
        to_vec(&w.lin, W + 3);
        md_articulated_add_shifted(&to, &a, &r);
        md_articulated_sub_square(&to, &w);
        to_dense(got, &to);
        double X[6][6] = { { 0 } };
        for (int k = 0; k < 6; k++) {
            X[k][k] = 1;
        }
        for (int k = 0; k < 3; k++) { /* [r] */
            X[k][3 + (k + 1) % 3] = -arm[(k + 2) % 3];
            X[k][3 + (k + 2) % 3] = arm[(k + 1) % 3];
        }
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 6; j++) {
                double want = to_D[i][j] - W[i] * W[j];
                for (int k = 0; k < 36; k++) {
                    want += X[i][k / 6] * D[k / 6][k % 6] * X[j][k % 6];
                }
                CHECK_NEAR(got[i][j], want, SHIFTED);
            }
        }
    }
}

/* ---- small matrices, numbers, arrays ---- */

/* A x of the solution is b: of a dominant diagonal, and of the inertia 1 - (1 - thin) u u^T of a
   body that is long along u. */
static void solve3(double a[3][3], const double *b) {
    md_num A[3][3], B[3], X[3];
    for (int k = 0; k < 9; k++) {
        A[k / 3][k % 3] = num(a[k / 3][k % 3]);
        B[k % 3] = num(b[k % 3]);
    }
    md_solve3(X, A, B);
    for (int i = 0; i < 3; i++) {
        double r = 0;
        for (int k = 0; k < 3; k++) {
            r += a[k][i] * number(X[k]);
        }
        CHECK_NEAR(r, b[i], SOLVED);
    }
}

static void test_solve3(void) {
    for (int n = 0; n < REPEATS; n++) {
        double a[3][3], b[3], u[3], x[3], thin = pow(10, random_in(-5, -1));
        random_vector(b, 3, 1);
        for (int k = 0; k < 3; k++) {
            random_vector(a[k], 3, 1);
            a[k][k] += 4;
        }
        solve3(a, b);

        random_vector(u, 3, 1);
        random_vector(x, 3, 1);
        for (int i = 0; i < 3; i++) {
            b[i] = 0;
            for (int k = 0; k < 3; k++) {
                const double part = u[i] * u[k] / (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
                a[k][i] = of_wide(wide((i == k) - (1 - thin) * part));
                b[i] += a[k][i] * x[k];
            }
            b[i] = of_wide(wide(b[i]));
        }
        solve3(a, b);
    }
}

static void test_numbers(void) {
    for (int n = 0; n < REPEATS; n++) {
        double x = number(num(random_in(-1000, 1000))), y = number(num(random_in(-1000, 1000)));
        if (n % 4 == 0) {
            x = floor(x) + 0.5; /* halves go away from zero */
        }
        CHECK_NEAR(of_real(md_round(num(x))), round(x), 0);
        CHECK_NEAR(number(md_max(num(x), num(y))), fmax(x, y), 0);
        CHECK_NEAR(number(md_min(num(x), num(y))), fmin(x, y), 0);
        CHECK_EQUAL(md_wide_less(wide(x), wide(y)), x < y);
        CHECK_EQUAL(md_wide_less(wide(x), wide(x)), 0);
    }
}

/* One element of seven is changed at a time: what looks at all of them sees it. */
static void test_arrays(void) {
    enum { N = 7 };
    mdyn_real x[N], seen[N], bad;
    mdyn_wide w[N];
    md_tail tail[N];
    bad_real(&bad, 0);
    for (int k = 0; k < N; k++) {
        for (int i = 0; i < N; i++) {
            x[i] = seen[i] = real(i - 3);
            w[i] = wide(i == 3 ? 0 : i);
            tail[i] = (md_tail)1;
        }
        CHECK(md_all_in_range(x, N) && !md_any_differs(x, seen, N));
        CHECK(!md_any_wide_negative(w, N) && md_wides_in_range(w, N));
        CHECK_EQUAL(md_wides_are_zero(w, N), 0);
        x[k] = real(8);
        CHECK(md_any_differs(x, seen, N) && !md_any_differs(x, seen, k));
        md_note_changes(x, seen, tail, N);
        for (int i = 0; i < N; i++) {
            CHECK(md_bits_equal(x[i], seen[i]));
            CHECK_EQUAL(tail[i] == 0, i == k);
        }
        memcpy(&x[k], &bad, sizeof bad);
        CHECK(!md_all_in_range(x, N) && md_all_in_range(x, k));
        w[k] = wide(-1e-6);
        CHECK(md_any_wide_negative(w, N) && !md_any_wide_negative(w, k));
        bad_wide(&w[k], k);
        CHECK(!md_wides_in_range(w, N) && md_wides_in_range(w, k));
        memset(w, 0, sizeof w);
        CHECK(md_wides_are_zero(w, N));
        w[k] = wide(1e-9);
        CHECK(!md_wides_are_zero(w, N) && md_wides_are_zero(w, k));
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_quaternions();
    test_axes();
    test_equal_axes();
    test_wrenches();
    test_composites();
    test_articulated();
    test_solve3();
    test_numbers();
    test_arrays();
    return check_end();
}
