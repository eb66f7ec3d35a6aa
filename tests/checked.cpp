// The implementation twice in one program: with floats, and with the classes of checked.hpp. That
// the second one compiles shows that the algorithms use the number layer only; that both give the
// same bits shows that the classes change nothing.
#define MIMICDYN_STATIC 1
#define MIMICDYN_MAX_BODIES 8
#define MIMICDYN_MAX_DOFS 20
#define MIMICDYN_MAX_COUPLINGS 6
#define MIMICDYN_MAX_ROWS 40
#define MIMICDYN_MAX_TERMS 4
#define MIMICDYN_MAX_ENTRIES 2000
#define MIMICDYN_MAX_BODY_ROWS 7
#define MIMICDYN_MAX_CONTACTS 2
#define MIMICDYN_MAX_DANTZIG 40
#define MIMICDYN_IMPLEMENTATION
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function" // nobody calls all of a static library
#endif

namespace plain {
#include "../mimicdyn.h"
}

#undef MIMICDYN_H
#undef MDYN_IMPLEMENTED_
#undef MD_RAW
#undef MD_NUM
#undef MD_UNIT
#include "checked.hpp"
namespace checked {
#include "../mimicdyn.h"
}

using plain::mdyn_real;
using plain::mdyn_wide;
using plain::mdyn_wide3;
using plain::MDYN_OK;
using plain::MDYN_WARN_START;
using plain::MDYN_WARN_OFF_COUPLING;
#include "check.h"

static_assert(sizeof(plain::mdyn_sim) == sizeof(checked::mdyn_sim), "the classes add nothing");

// A mechanism of every kind of joint and row; of the types of one of the two namespaces.
template <class Sim, class Model, class Body, class Coupling, class Closure, class Row,
          class Contact> struct scene {
    Sim sim;
    Model model;
    Body body[8];
    Coupling coupling[4];
    Closure closure[2];
    Row row[2];
    Contact contact[2];

    void joint(int i, int parent, int type, double mass) {
        Body &b = body[i];
        b.parent = static_cast<int16_t>(parent);
        b.joint = static_cast<decltype(b.joint)>(type);
        b.axis.x = wide(0.5);
        b.axis.y = wide(i % 3 - 1.0);
        b.axis.z = wide(0.25 * i);
        b.pitch = wide(0.1);
        b.position.x = wide(0.3);
        b.position.z = wide(-0.1 * i);
        b.rotation.w = wide(1);
        b.rotation.x = wide(0.3 * i);
        b.rotation.z = wide(-0.2);
        b.mass = wide(mass);
        b.com.x = wide(0.1);
        b.com.y = wide(-0.05);
        b.inertia.xx = b.inertia.yy = b.inertia.zz = wide(0.02 * mass);
        b.inertia.xy = wide(0.001 * mass);
    }

    void couple(int a, double ca, int b, double cb, double offset) {
        Coupling &c = coupling[model.coupling_count++];
        c.terms[0].body = static_cast<int16_t>(a);
        c.terms[0].coefficient = wide(ca);
        c.terms[1].body = static_cast<int16_t>(b);
        c.terms[1].coefficient = wide(cb);
        c.offset = wide(offset);
    }

    void build() {
        static const int types[8] = {
            plain::MDYN_REVOLUTE, plain::MDYN_PRISMATIC, plain::MDYN_HELICAL, plain::MDYN_FIXED,
            plain::MDYN_SPHERICAL, plain::MDYN_FREE, plain::MDYN_REVOLUTE, plain::MDYN_REVOLUTE
        };
        static const int parents[8] = { -1, 0, 1, 2, 2, -1, 5, 6 };
        memset(this, 0, sizeof *this);
        for (int i = 0; i < 8; i++) {
            joint(i, parents[i], types[i], 0.5 + 0.3 * i);
        }
        body[0].armature = wide(0.05);
        body[0].damping = wide(0.1);
        body[1].lower = wide(-0.2);
        body[1].upper = wide(0.2);
        body[2].friction = wide(0.3);
        body[6].drive_kp = wide(50);
        body[6].drive_kd = wide(5);
        body[6].effort = wide(3);
        couple(0, 1, 2, -1.5, 0.1);
        couple(6, 1, 7, 2, 0);
        couple(0, 1, 6, 0.25, 0);
        typedef decltype(coupling[1].softness.kind) kind;
        coupling[1].softness.kind = static_cast<kind>(plain::MDYN_KP_KD);
        coupling[1].softness.a = wide(300);
        coupling[1].softness.b = wide(2);
        coupling[2].effort = wide(1.5);
        typedef decltype(closure[0].kind) closing;
        closure[0].kind = static_cast<closing>(plain::MDYN_CLOSE_POINT);
        closure[0].a = 7;
        closure[0].b = 2;
        closure[0].point_a.x = wide(0.2);
        closure[0].effort = wide(20);
        closure[1].kind = static_cast<closing>(plain::MDYN_CLOSE_DISTANCE);
        closure[1].a = 5;
        closure[1].b = plain::MDYN_WORLD;
        closure[1].distance = wide(1);
        row[0].terms[0].body = 4;
        row[0].terms[0].angular.z = wide(1);
        row[0].terms[1].body = 6;
        row[0].terms[1].axes = static_cast<decltype(row[0].terms[1].axes)>(plain::MDYN_BODY_AXES);
        row[0].terms[1].linear.x = wide(-0.5);
        row[0].force_min = wide(-2);
        row[0].force_max = wide(1);
        row[1].terms[0].body = 3;
        row[1].terms[0].linear.y = wide(1);
        row[1].mu = wide(0.5);
        for (int i = 0; i < 2; i++) {
            contact[i].a = static_cast<int16_t>(2 * i + 2);
            contact[i].b = static_cast<int16_t>(i ? 6 : plain::MDYN_WORLD);
            contact[i].point.x = real(0.3);
            contact[i].normal.y = real(1 - i);
            contact[i].normal.z = real(2);
            contact[i].depth = real(1e-3);
            contact[i].mu = wide(0.4);
        }
        model.closures = closure;
        model.closure_count = 2;
        model.user_rows = row;
        model.user_row_count = 2;
        model.solver.friction_law =
            static_cast<decltype(model.solver.friction_law)>(plain::MDYN_CONE);
        model.bodies = body;
        model.body_count = 8;
        model.couplings = coupling;
        model.gravity.z = wide(-9.81);
        model.gravity.x = wide(0.5);
        model.dt = wide(0.001);
    }
};

typedef scene<plain::mdyn_sim, plain::mdyn_model, plain::mdyn_body, plain::mdyn_coupling,
              plain::mdyn_closure, plain::mdyn_user_row, plain::mdyn_contact> left;
typedef scene<checked::mdyn_sim, checked::mdyn_model, checked::mdyn_body, checked::mdyn_coupling,
              checked::mdyn_closure, checked::mdyn_user_row, checked::mdyn_contact> right;
static left a;
static right b;

static void same(const char *what, const void *x, const void *y, size_t bytes) {
    if (!CHECK(memcmp(x, y, bytes) == 0)) {
        CHECK_NOTE("differs: %s\n", what);
    }
}

static void drive(int step) {
    for (int i = 0; i < mdyn_dofs(&a.sim); i++) {
        double tau = 0.5 * ((step / 50 + i) % 5 - 2);
        a.sim.tau[i] = b.sim.tau[i] = real(tau);
    }
    a.sim.target[12] = b.sim.target[12] = real(step % 400 < 200 ? 0.5 : -0.25);
    a.sim.wrench[3].force.x = b.sim.wrench[3].force.x = real(step % 100 < 50 ? 1 : -2);
}

static void compare_queries() {
    static mdyn_wide x[400], y[400];
    plain::mdyn_real3 p, w;
    plain::mdyn_real4 q;
    checked::mdyn_real3 p2, w2;
    checked::mdyn_real4 q2;
    char s[300], s2[300];
    for (int i = 0; i < 8; i++) {
        CHECK_EQUAL(mdyn_pose(&a.sim, i, &p, &q), mdyn_pose(&b.sim, i, &p2, &q2));
        same("position", &p, &p2, sizeof p);
        same("quaternion", &q, &q2, sizeof q);
        CHECK_EQUAL(mdyn_velocity(&a.sim, i, NULL, &p, &w),
                    mdyn_velocity(&b.sim, i, NULL, &p2, &w2));
        same("angular velocity", &p, &p2, sizeof p);
        same("velocity", &w, &w2, sizeof w);
    }
    CHECK_EQUAL(mdyn_mass_matrix(&a.sim, x), mdyn_mass_matrix(&b.sim, y));
    same("mass matrix", x, y, sizeof x);
    CHECK_EQUAL(mdyn_constrained_dynamics(&a.sim, x), mdyn_constrained_dynamics(&b.sim, y));
    same("accelerations", x, y, sizeof x);
    CHECK_EQUAL(mdyn_inverse_mass_column(&a.sim, 2, x), mdyn_inverse_mass_column(&b.sim, 2, y));
    same("impulse response", x, y, sizeof x);
    CHECK_EQUAL(mdyn_energy(&a.sim, x, x + 1), mdyn_energy(&b.sim, y, y + 1));
    same("energy", x, y, sizeof x);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(mdyn_explain(&a.sim, plain::MDYN_ROW_COUPLING, i, s, 300),
                    mdyn_explain(&b.sim, checked::MDYN_ROW_COUPLING, i, s2, 300));
        CHECK_TEXT(s2, s);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(mdyn_explain(&a.sim, plain::MDYN_ROW_USER, i, s, 300),
                    mdyn_explain(&b.sim, checked::MDYN_ROW_USER, i, s2, 300));
        CHECK_TEXT(s2, s);
    }
}

// Contacts, friction on them, a row twice: both solvers.
static void compare_lcp() {
    enum { N = 9, ROOM = MDYN_LCP_SCRATCH(N) };
    static plain::mdyn_lcp_cell cells[ROOM];
    static checked::mdyn_lcp_cell cells2[ROOM];
    static mdyn_wide A[N * N], rhs[N], lo[N], hi[N], x[2][N], w[2][N];
    static int16_t findex[N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double t = 0;
            for (int k = 0; k < 5; k++) {
                t += sin(1 + i % 8 * 5 + k) * sin(1 + j % 8 * 5 + k);
            }
            A[i * N + j] = wide(t);
        }
        rhs[i] = wide(cos(2.0 * i));
        findex[i] = static_cast<int16_t>(i % 3 == 0 ? -1 : i - i % 3);
        hi[i] = i % 3 == 0 ? MDYN_UNLIMITED : wide(0.4);
    }
    for (int friction = 0; friction <= plain::MDYN_TWO_STAGE; friction += plain::MDYN_TWO_STAGE) {
        plain::mdyn_lcp p = { N, A, rhs, lo, hi, findex,
                              static_cast<plain::mdyn_friction_law>(friction) };
        checked::mdyn_lcp q = { N, A, rhs, lo, hi, findex,
                                static_cast<checked::mdyn_friction_law>(friction) };
        CHECK_EQUAL(mdyn_lcp_dantzig(&p, x[0], w[0], cells, ROOM, NULL),
                    mdyn_lcp_dantzig(&q, x[1], w[1], cells2, ROOM, NULL));
        same("x by pivoting", x[0], x[1], sizeof x[0]);
        same("w by pivoting", w[0], w[1], sizeof w[0]);
        CHECK_EQUAL(mdyn_lcp_pgs(&p, NULL, x[0], w[0], cells, ROOM, NULL),
                    mdyn_lcp_pgs(&q, NULL, x[1], w[1], cells2, ROOM, NULL));
        same("x by iterations", x[0], x[1], sizeof x[0]);
        CHECK(fabs(of_wide(x[0][0])) > 1e-3);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    for (int k = 0; k < 3; k++) { // rows exact and swept, all swept, exact and pivoted
        const int iterated = k == 1, pivoted = k == 2;
        a.build();
        b.build();
        if (pivoted) {
            a.model.solver.method = plain::MDYN_DANTZIG;
            b.model.solver.method = checked::MDYN_DANTZIG;
            a.model.solver.friction_law = plain::MDYN_PYRAMID;
            b.model.solver.friction_law = checked::MDYN_PYRAMID;
        }
        a.model.solver.equality = static_cast<plain::mdyn_equality>(iterated);
        b.model.solver.equality = static_cast<checked::mdyn_equality>(iterated);
        CHECK_EQUAL(but_for_start(mdyn_init(&a.sim, &a.model)), plain::MDYN_OK);
        CHECK_EQUAL(but_for_start(mdyn_init(&b.sim, &b.model)), checked::MDYN_OK);
        for (int step = 0; step < 1000; step++) {
            drive(step);
            if (step % 3 == 0) {
                CHECK_EQUAL(mdyn_set_contacts(&a.sim, a.contact, 2), plain::MDYN_OK);
                CHECK_EQUAL(mdyn_set_contacts(&b.sim, b.contact, 2), checked::MDYN_OK);
            }
            const int code = mdyn_step(&a.sim);
            CHECK_EQUAL(mdyn_step(&b.sim), code);
            CHECK(code == plain::MDYN_OK || code == plain::MDYN_WARN_NOT_CONVERGED
                || (pivoted && code > 0));
            same("coordinates", a.sim.q, b.sim.q, sizeof a.sim.q);
            same("speeds", a.sim.v, b.sim.v, sizeof a.sim.v);
            if (step % 100 == 0) {
                compare_queries();
            }
        }
        CHECK(fabs(of_real(a.sim.q[0])) > 1e-3); // it moved
        CHECK_EQUAL(mdyn_project(&a.sim, plain::MDYN_MASS_METRIC),
                    mdyn_project(&b.sim, checked::MDYN_MASS_METRIC));
        same("projected coordinates", a.sim.q, b.sim.q, sizeof a.sim.q);
    }
    compare_lcp();
    return check_end();
}
