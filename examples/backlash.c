/* backlash.c - a gear pair with play: a coupling with a range. Inside the gap there is no row, at
   its ends the teeth push, one way only.
   Checked: the wheel rests while the pinion crosses the gap; the loop that pinion and wheel go
   through is as wide as the gap; a hit keeps the momentum along the mesh and loses the energy of
   a plastic one.
   By hand: cc -O2 examples/backlash.c -lm -o backlash && ./backlash [picture.svg] */

#define MIMICDYN_MAX_BODIES 2
#define MIMICDYN_MAX_COUPLINGS 1
#define MIMICDYN_IMPLEMENTATION
#include "../mimicdyn.h"
#include "check.h"
#include "plot.h"

enum { PINION, WHEEL };
#define GAP 0.06 /* play at the pinion [rad] */
#define SWING 0.25 /* of the pinion, to both sides [rad] */
#define DT 0.0005
#define STEPS 8000 /* 4 s: two turns to and fro */
#define J_PINION 1e-4 /* [kg m^2] */
#define J_WHEEL 6e-4
#define PI 3.141592653589793

/* The pinion follows its drive; dry friction keeps the wheel where the teeth leave it. */
static const mdyn_body stiff[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .drive_kp = MDYN_C(50), .drive_kd = MDYN_C(0.5),
      .inertia = MDYN_INERTIA(1e-4, 1e-4, J_PINION, 0, 0, 0), .name = "pinion" },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE, .friction = MDYN_C(0.05),
      .inertia = MDYN_INERTIA(6e-4, 6e-4, J_WHEEL, 0, 0, 0), .name = "wheel" },
};
static const mdyn_body loose[] = {
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE,
      .inertia = MDYN_INERTIA(1e-4, 1e-4, J_PINION, 0, 0, 0), .name = "pinion" },
    { .parent = MDYN_WORLD, .joint = MDYN_REVOLUTE,
      .inertia = MDYN_INERTIA(6e-4, 6e-4, J_WHEEL, 0, 0, 0), .name = "wheel" },
};
/* C = q_pinion + 2 q_wheel: 20 and 40 teeth, meshing from outside */
static const mdyn_coupling mesh[] = {
    { .terms = { MDYN_TERM(PINION, 1), MDYN_TERM(WHEEL, 2) },
      .lower = MDYN_C(-GAP / 2), .upper = MDYN_C(GAP / 2), .name = "mesh" },
};
static mdyn_model model = {
    .body_count = 2, .couplings = mesh, .coupling_count = 1, .dt = MDYN_C(DT),
};
static mdyn_sim sim;
static double pinion[STEPS + 1], wheel[STEPS + 1];

static void swing(void)
{
    double alone = 0, outside = 0, top = -1, bottom = 1, force = 0;
    mdyn_row_report row;
    int k;

    model.bodies = stiff;
    must(&sim, mdyn_init(&sim, &model));
    printf("  t [s]   pinion [rad]   wheel [rad]   play left [rad]   force [N m]\n");
    for (k = 1; k <= STEPS; k++) {
        const double t = k * DT, middle = t - DT / 2, before = real(sim.q[WHEEL]);
        double C;
        sim.target[PINION] = MDYN_R(SWING * sin(PI * middle)); /* that of the middle of the step */
        sim.target_velocity[PINION] = MDYN_R(SWING * PI * cos(PI * middle));
        must(&sim, mdyn_step(&sim));
        must(&sim, mdyn_report_row(&sim, MDYN_ROW_COUPLING, 0, &row));
        pinion[k] = real(sim.q[PINION]);
        wheel[k] = real(sim.q[WHEEL]);
        C = pinion[k] + 2 * wheel[k];
        outside = worse(outside, fabs(C) - GAP / 2);
        if (wide(row.impulse) == 0) { /* no tooth touches */
            alone += fabs(wheel[k] - before);
        }
        force = worse(force, fabs(wide(row.force)));
        if (k > STEPS / 2) { /* the second turn */
            top = worse(top, wheel[k]);
            bottom = fmin(bottom, wheel[k]);
        }
        if (k % 500 == 0) {
            printf("%7.3f %14.6f %13.6f %17.6f %13.6f\n", t, pinion[k], wheel[k],
                   GAP / 2 - fabs(C), wide(row.force));
        }
    }
    CHECK("past the ends of the play [rad]", outside, 0, BY_SCALAR(1e-15, 1e-7, 1e-7));
    CHECK("way of the wheel in the gap, 4 times [rad]", alone, 0, 4 * 5e-4);
    CHECK("swing of the wheel [rad]", top - bottom, (2 * SWING - GAP) / 2, 2e-3);
    CHECK("most force of the teeth [N m]", force > 0.05 / 2, 1, 0);
}

/* The pinion crosses half the gap at 3 rad/s and hits the wheel, nothing else acts. */
static void hit(void)
{
    const double v = 3, r = 1 / J_PINION + 4 / J_WHEEL, impulse = v / r; /* J M^-1 J' */
    mdyn_wide kinetic, potential;
    int k;

    model.bodies = loose;
    must(&sim, mdyn_init(&sim, &model));
    sim.v[PINION] = MDYN_R(v);
    for (k = 0; k < 40; k++) {
        must(&sim, mdyn_step(&sim));
    }
    must(&sim, mdyn_energy(&sim, &kinetic, &potential));
    CHECK("pinion after the hit [rad/s]", real(sim.v[PINION]), v - impulse / J_PINION,
          BY_SCALAR(1e-13, 1e-5, 1e-5));
    CHECK("wheel after the hit [rad/s]", real(sim.v[WHEEL]), -2 * impulse / J_WHEEL,
          BY_SCALAR(1e-13, 1e-5, 1e-5));
    CHECK("energy lost [J]", J_PINION * v * v / 2 - wide(kinetic), v * v / r / 2,
          BY_SCALAR(1e-17, 1e-9, 1e-9));
}

/* A wheel of the inset: its circle, its name, and which way it turns when its angle grows. */
static void draw_wheel(FILE *file, double x, double radius, const char *name)
{
    const plot_pen rim = { PLOT_STEEL, 2, NULL }, turn = { PLOT_BLUE, 1.6, NULL };
    fprintf(file, "<circle cx=\"%g\" cy=\"130\" r=\"%g\"", x, radius);
    plot_stroke(file, rim);
    plot_turn(file, x, 130, radius - 7, -0.3, 2.2, turn);
    plot_text(file, x, 134, "middle", 11, PLOT_INK, "+");
    plot_text(file, x, 190, "middle", 11, PLOT_INK, name);
}

/* The way around the loop, beside its long sides. */
static void draw_loop(const plot_panel *p)
{
    const plot_pen pen = { PLOT_FAINT, 1.4, NULL };
    plot_arrow(p->file, plot_x(p, 0.08), plot_y(p, -0.01), plot_x(p, 0.16), plot_y(p, -0.05), pen);
    plot_arrow(p->file, plot_x(p, -0.08), plot_y(p, 0.01), plot_x(p, -0.16), plot_y(p, 0.05), pen);
    plot_text(p->file, plot_x(p, 0.14), plot_y(p, -0.022), "start", 11, PLOT_FAINT,
              "pinion turns +");
    plot_text(p->file, plot_x(p, -0.14), plot_y(p, 0.018), "end", 11, PLOT_FAINT,
              "pinion turns &#8722;");
}

/* 0 when the picture is written. */
static int draw(const char *path)
{
    const plot_pen ink = { PLOT_BLUE, 1.8, NULL };
    plot_panel p = { NULL, PLOT_LEFT, 64, 540, 300, -0.3, 0.3, -0.15, 0.15, 0 };
    p.file = plot_open(path, 640, 420, "A gear pair with backlash: the wheel over the pinion",
                       "Level: the pinion crosses the gap, the wheel rests. "
                       "Sloped: the teeth touch, the wheel follows.");
    if (!p.file) {
        return -1;
    }
    plot_y_axis(&p, 0.05, "%.2f", "wheel [rad]");
    plot_x_axis(&p, 0.1, "%.1f", "pinion [rad]");
    plot_curve(&p, pinion, wheel, STEPS + 1, ink);
    draw_loop(&p);
    draw_wheel(p.file, 454, 22, "pinion");
    draw_wheel(p.file, 520, 44, "wheel");
    return plot_close(p.file);
}

int main(int argc, char **argv)
{
    swing();
    hit();
    if (argc > 1 && draw(argv[1]) != 0) {
        fprintf(stderr, "cannot write %s\n", argv[1]);
        return 2;
    }
    return check_result();
}
