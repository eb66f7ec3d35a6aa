/* Fixed bodies, which are welded to the bodies that carry them.

   The truth: the same mechanism without fixed bodies. Their masses, centers of mass and inertias
   are merged by hand, in double, into the bodies that carry them, and what hangs on them hangs on
   these. Both are stepped side by side; poses, velocities and Jacobians of a fixed body are those
   of a point and a frame of the other one. For mdyn_set_body: a sim initialized with the new
   numbers. */
#include "knobs.h"
#include "check.h"
#include "truth.h"

/* What the checks allow, some three to ten times the worst of -s 1, 2 and 3. */
/*                                 F64     F32   FIXED */
TOLERANCE(STEPS,                 1e-11,   3e-3,   2e-4);
TOLERANCE(POSE,                  1e-13,   1e-5,   1e-6);
TOLERANCE(MASS_MATRIX,           1e-13,   2e-5,   1e-6);

typedef struct frame { /* of a body of the table, in the one that carries it; -1: the world */
    int on;
    ld R[3][3], p[3];
} frame;

static mechanism mech, merged;
static mdyn_sim sim, other;
static frame frames[TB];
static int place[TB]; /* of a body that moves among the merged ones */

static void quaternion_matrix(const mdyn_wide4 *from, ld R[3][3]) {
    ld q[4] = { (ld)of_wide(from->w), (ld)of_wide(from->x), (ld)of_wide(from->y),
                (ld)of_wide(from->z) };
    t_quaternion(R, q);
}

/* The quaternion of R, of which the largest of w, x, y, z is found first. */
static mdyn_wide4 matrix_quaternion(ld R[3][3]) {
    ld q[4] = { 1 + R[0][0] + R[1][1] + R[2][2], 1 + R[0][0] - R[1][1] - R[2][2],
                1 - R[0][0] + R[1][1] - R[2][2], 1 - R[0][0] - R[1][1] + R[2][2] };
    int m = 0;
    for (int k = 1; k < 4; k++) {
        m = q[k] > q[m] ? k : m;
    }
    ld s = sqrtl(q[m]) / 2, x = R[2][1] - R[1][2], y = R[0][2] - R[2][0], z = R[1][0] - R[0][1];
    ld a = R[1][0] + R[0][1], b = R[0][2] + R[2][0], c = R[2][1] + R[1][2];
    ld all[4][4] = { { 0, x, y, z }, { x, 0, a, b }, { y, a, 0, c }, { z, b, c, 0 } };
    for (int k = 0; k < 4; k++) {
        q[k] = k == m ? s : all[m][k] / (4 * s);
    }
    mdyn_wide4 r = { wide((double)q[0]), wide((double)q[1]), wide((double)q[2]),
                     wide((double)q[3]) };
    return r;
}

/* The frame of body i before its motion, in the body that carries its parent. */
static void find_frame(int i, frame *f) {
    const mdyn_body *b = &mech.body[i];
    ld own[3][3], p[3];
    quaternion_matrix(&b->rotation, own);
    t_wide3(p, &b->position);
    memset(f, 0, sizeof *f);
    f->on = -1;
    for (int k = 0; k < 3; k++) {
        f->R[k][k] = 1;
    }
    if (b->parent >= 0) {
        *f = frames[b->parent];
        t_turn(p, f->R, p);
    }
    t_compose(f->R, f->R, own);
    for (int k = 0; k < 3; k++) {
        f->p[k] += p[k];
    }
}

/* The body *to of `merged` takes up body i, whose frame is *f in it. */
static void take_up(mdyn_body *to, int i, frame *f) {
    ld m1 = (ld)of_wide(to->mass), m2 = (ld)of_wide(mech.body[i].mass), m = m1 + m2;
    ld c1[3], c2[3], c[3], I[3][3], t[3][3];
    const mdyn_inertia *own = &mech.body[i].inertia;
    mdyn_inertia *in = &to->inertia;
    ld x[3][3] = { { (ld)of_wide(own->xx), (ld)of_wide(own->xy), (ld)of_wide(own->xz) },
                   { (ld)of_wide(own->xy), (ld)of_wide(own->yy), (ld)of_wide(own->yz) },
                   { (ld)of_wide(own->xz), (ld)of_wide(own->yz), (ld)of_wide(own->zz) } };
    if (m2 == 0) {
        return;
    }
    t_wide3(c1, &to->com);
    t_wide3(c2, &mech.body[i].com);
    t_turn(c2, f->R, c2);
    t_compose(t, f->R, x);
    for (int k = 0; k < 3; k++) {
        c2[k] += f->p[k];
        c[k] = (m1 * c1[k] + m2 * c2[k]) / m;
    }
    for (int j = 0; j < 3; j++) { /* R I R' and both shifts to the new center */
        for (int k = 0; k < 3; k++) {
            I[j][k] = t[j][0] * f->R[k][0] + t[j][1] * f->R[k][1] + t[j][2] * f->R[k][2];
            ld a = 0, b = 0;
            for (int l = 0; l < 3 && j == k; l++) {
                a += (c1[l] - c[l]) * (c1[l] - c[l]);
                b += (c2[l] - c[l]) * (c2[l] - c[l]);
            }
            I[j][k] += m1 * (a - (c1[j] - c[j]) * (c1[k] - c[k]));
            I[j][k] += m2 * (b - (c2[j] - c[j]) * (c2[k] - c[k]));
        }
    }
    to->mass = wide((double)m);
    to->com = wide3((double)c[0], (double)c[1], (double)c[2]);
    in->xx = wide((double)(I[0][0] + (ld)of_wide(in->xx)));
    in->yy = wide((double)(I[1][1] + (ld)of_wide(in->yy)));
    in->zz = wide((double)(I[2][2] + (ld)of_wide(in->zz)));
    in->xy = wide((double)(I[0][1] + (ld)of_wide(in->xy)));
    in->xz = wide((double)(I[0][2] + (ld)of_wide(in->xz)));
    in->yz = wide((double)(I[1][2] + (ld)of_wide(in->yz)));
}

static void merge(void) {
    int n = 0;
    merged = mech;
    for (int i = 0; i < mech.model.body_count; i++) {
        frame f;
        find_frame(i, &f);
        if (mech.body[i].joint == MDYN_FIXED) {
            frames[i] = f;
            if (f.on >= 0) {
                take_up(&merged.body[place[f.on]], i, &f);
            }
            continue;
        }
        mdyn_body *to = &merged.body[place[i] = n++];
        *to = mech.body[i];
        to->inertia_as_given = 1;
        to->parent = (int16_t)(f.on < 0 ? MDYN_WORLD : place[f.on]);
        to->position = wide3((double)f.p[0], (double)f.p[1], (double)f.p[2]);
        to->rotation = matrix_quaternion(f.R);
        memset(&frames[i], 0, sizeof f);
        frames[i].on = i;
        frames[i].R[0][0] = frames[i].R[1][1] = frames[i].R[2][2] = 1;
    }
    merged.model.bodies = merged.body;
    merged.model.body_count = n;
}

/* A random tree of which about every third body is fixed, the first may be so too. */
static void draw(int kind) {
    mechanism_random(&mech, 9, 20, kind);
    for (int i = 0; i < 9; i++) {
        int fixed = i ? random_int(3) == 0 : random_int(3) == 0 && !(kind & FLOATING);
        if (fixed && t_dofs_of(mech.body[i].joint) <= 1) {
            mech.body[i].joint = MDYN_FIXED;
            mech.body[i].armature = wide(0);
        }
    }
    merge();
}

/* Position, rotation, velocities and Jacobian of the fixed body i against those of what carries
   it. */
static void compare_body(int i) {
    static mdyn_wide J[6 * TN], want[6 * TN];
    const frame *f = &frames[i];
    mdyn_real3 p, p2, w, w2, v, v2, at = { real((double)f->p[0]), real((double)f->p[1]),
                                           real((double)f->p[2]) };
    mdyn_real4 q, q2;
    ld R[3][3], R2[3][3];
    CHECK_EQUAL(mdyn_pose(&sim, i, &p, &q), MDYN_OK);
    CHECK_EQUAL(mdyn_velocity(&sim, i, NULL, &w, &v), MDYN_OK);
    CHECK_EQUAL(mdyn_jacobian(&sim, i, NULL, J), MDYN_OK);
    if (f->on < 0) {
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(of_real((&p.x)[k]), (double)f->p[k], POSE);
            CHECK_NEAR(of_real((&v.x)[k]), 0, 0);
        }
        return;
    }
    CHECK_EQUAL(mdyn_pose(&other, place[f->on], &p2, &q2), MDYN_OK);
    CHECK_EQUAL(mdyn_point(&other, place[f->on], &at, &p2), MDYN_OK);
    CHECK_EQUAL(mdyn_velocity(&other, place[f->on], &at, &w2, &v2), MDYN_OK);
    CHECK_EQUAL(mdyn_jacobian(&other, place[f->on], &at, want), MDYN_OK);
    ld x[4] = { (ld)of_real(q.w), (ld)of_real(q.x), (ld)of_real(q.y), (ld)of_real(q.z) };
    ld y[4] = { (ld)of_real(q2.w), (ld)of_real(q2.x), (ld)of_real(q2.y), (ld)of_real(q2.z) };
    t_quaternion(R, x);
    t_quaternion(R2, y);
    t_compose(R2, R2, frames[i].R);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(of_real((&p.x)[k]), of_real((&p2.x)[k]), 10 * POSE);
        CHECK_NEAR(of_real((&w.x)[k]), of_real((&w2.x)[k]), 10 * POSE);
        CHECK_NEAR(of_real((&v.x)[k]), of_real((&v2.x)[k]), 30 * POSE);
        for (int j = 0; j < 3; j++) {
            CHECK_NEAR((double)R[k][j], (double)R2[k][j], 10 * POSE);
        }
    }
    for (int k = 0; k < 6 * mdyn_dofs(&sim); k++) {
        CHECK_NEAR(of_wide(J[k]), of_wide(want[k]), 20 * POSE);
    }
}

static void copy_state(void) {
    memcpy(other.q, sim.q, sizeof sim.q);
    memcpy(other.v, sim.v, sizeof sim.v);
    memcpy(other.tau, sim.tau, sizeof sim.tau);
    memset(sim.wrench, 0, sizeof sim.wrench);
}

static void compare_masses(double size) {
    static mdyn_wide M[TN * TN], want[TN * TN];
    const int n = mdyn_dofs(&sim);
    CHECK_EQUAL(mdyn_mass_matrix(&sim, M), MDYN_OK);
    CHECK_EQUAL(mdyn_mass_matrix(&other, want), MDYN_OK);
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < n; k++) {
            CHECK_NEAR(of_wide(M[j * n + k]), of_wide(want[j * n + k]), MASS_MATRIX * size);
        }
    }
}

static void test_merged(void) {
    int fixed = 0;
    for (int n = 0; n < 60; n++) {
        random_seed((uint64_t)n);
        draw(ARMATURES | (n % 3 == 1 ? FOREST : n % 3 == 2 ? FLOATING : 0));
        if (mdyn_init(&sim, &mech.model) != MDYN_OK) {
            continue; /* a body without mass moves alone */
        }
        CHECK_EQUAL(mdyn_init(&other, &merged.model), MDYN_OK);
        CHECK_EQUAL(mdyn_dofs(&sim), mdyn_dofs(&other));
        sim_random(&sim, &mech.model, 1, 2);
        copy_state();
        compare_masses(100);
        for (int i = 0; i < mech.model.body_count; i++) {
            if (mech.body[i].joint == MDYN_FIXED) {
                compare_body(i);
                fixed++;
            }
        }
        for (int k = 0; k < 30; k++) {
            CHECK(mdyn_step(&sim) >= 0);
            CHECK(mdyn_step(&other) >= 0);
        }
        for (int k = 0; k < mdyn_dofs(&sim); k++) {
            double size = 1 + fabs(of_real(other.v[k]));
            CHECK_NEAR(of_real(sim.v[k]), of_real(other.v[k]), STEPS * size);
        }
        for (int k = 0; k < mdyn_coordinates(&sim); k++) {
            CHECK_NEAR(of_real(sim.q[k]), of_real(other.q[k]), STEPS);
        }
    }
    CHECK(fixed > 80);
}

/* Bodies are replaced one after the other, fixed ones and those that carry them; the last time by
   numbers that are refused. */
static void test_set_body(void) {
    static mechanism changed;
    for (int n = 0; n < 40; n++) {
        random_seed(500 + (uint64_t)n);
        draw(ARMATURES | (n % 2 ? FLOATING : FOREST));
        if (mdyn_init(&sim, &mech.model) != MDYN_OK) {
            continue;
        }
        changed = mech;
        for (int k = 0; k < 12; k++) {
            mdyn_body *b = &changed.body[random_int(9)];
            double mass = random_in(0.5, 3);
            b->mass = wide(mass);
            b->com = random_vector(0.2);
            b->inertia = random_inertia(mass, 0.3);
            CHECK(mdyn_set_body(&sim, (int)(b - changed.body), b) >= 0);
            mdyn_body heavy = *b;
            heavy.mass = wide(-1);
            CHECK_EQUAL(mdyn_set_body(&sim, (int)(b - changed.body), &heavy), MDYN_ERR_MASS);
            CHECK_EQUAL(mdyn_verify(&sim), MDYN_OK);
        }
        changed.model.bodies = changed.body;
        CHECK_EQUAL(mdyn_init(&other, &changed.model), MDYN_OK);
        sim_random(&sim, &mech.model, 1, 2);
        copy_state();
        compare_masses(0); /* the same numbers in the same order: the same bits */
        for (int k = 0; k < 5; k++) {
            CHECK(mdyn_step(&sim) >= 0);
            CHECK(mdyn_step(&other) >= 0);
        }
        for (int k = 0; k < mdyn_dofs(&sim); k++) {
            CHECK_NEAR(of_real(sim.v[k]), of_real(other.v[k]), STEPS);
        }
    }
}

/* A wrench on a fixed body acts on the one that carries it: tau = J' wrench. */
static void test_wrench(void) {
    static mdyn_wide bias[TN], rest[TN], J[6 * TN];
    for (int n = 0; n < 20; n++) {
        random_seed(900 + (uint64_t)n);
        draw(ARMATURES);
        if (mdyn_init(&sim, &mech.model) != MDYN_OK) {
            continue;
        }
        sim_random(&sim, &mech.model, 1, 2);
        memset(sim.wrench, 0, sizeof sim.wrench);
        for (int i = 0; i < mech.model.body_count; i++) {
            const mdyn_wrench push = { random_real3(2), random_real3(2) };
            CHECK_EQUAL(mdyn_bias_force(&sim, rest), MDYN_OK);
            sim.wrench[i] = push;
            CHECK_EQUAL(mdyn_bias_force(&sim, bias), MDYN_OK);
            memset(sim.wrench, 0, sizeof sim.wrench);
            CHECK_EQUAL(mdyn_jacobian(&sim, i, NULL, J), MDYN_OK);
            for (int k = 0, dofs = mdyn_dofs(&sim); k < dofs; k++) {
                double want = of_wide(rest[k]), size = 10 + fabs(want);
                for (int j = 0; j < 3; j++) {
                    want -= of_wide(J[j * dofs + k]) * of_real((&push.moment.x)[j]);
                    want -= of_wide(J[(3 + j) * dofs + k]) * of_real((&push.force.x)[j]);
                }
                CHECK_NEAR(of_wide(bias[k]), want, 10 * MASS_MATRIX * size);
            }
        }
    }
}

/* A free body with fixed ones is a single body: its momentum is kept to rounding, its energy within
   a bound that does not grow. */
static void test_single(void) {
    mdyn_wide kinetic, potential;
    double first = 0, worst = 0;
    random_seed(77);
    mechanism_random(&mech, 3, 8, FLOATING);
    mech.body[1].joint = mech.body[2].joint = MDYN_FIXED;
    mech.body[1].parent = 0;
    mech.body[2].parent = 1;
    mech.model.gravity = wide3(0, 0, 0);
    CHECK_EQUAL(mdyn_init(&sim, &mech.model), MDYN_OK);
    for (int k = 0; k < 3; k++) {
        sim.v[k] = real(30 - 7 * k);
    }
    for (int k = 0; k < 5000; k++) {
        CHECK_EQUAL(mdyn_energy(&sim, &kinetic, &potential), MDYN_OK);
        first = k ? first : of_wide(kinetic);
        worst = worse(worst, fabs(of_wide(kinetic) / first - 1));
        CHECK_EQUAL(mdyn_step(&sim), MDYN_OK);
    }
    CHECK_NEAR(worst, 0, 2e-3);
    CHECK_EQUAL(mdyn_energy(&sim, &kinetic, &potential), MDYN_OK);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_merged();
    test_set_body();
    test_wrench();
    test_single();
    return check_end();
}
