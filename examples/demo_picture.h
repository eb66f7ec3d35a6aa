/* demo_picture.h - the picture of demo.c: the gripper open and closed on the object; beside it
   joint angles, coupling error and forces over one time axis. */

#ifndef EXAMPLES_DEMO_PICTURE_H
#define EXAMPLES_DEMO_PICTURE_H

#include "demo_posture.h"

#define DEMO_LEFT 350 /* of the panels, in pixels */
#define DEMO_INNER 490

/* The step of the first contact: where the phase "hold" begins. */
static int demo_touch(const demo_record *r)
{
    int i = 0;
    while (i < DEMO_OPENS && r->grip[i] <= 0) {
        i++;
    }
    return i;
}

/* A panel over the whole time; shaded while the object is held, the moments of the postures
   marked. */
static plot_panel demo_panel(FILE *file, const demo_record *r, double top, double height,
                             double low, double high, int log)
{
    const plot_panel p = { file, DEMO_LEFT, top, DEMO_INNER, height,
                           0, DEMO_STEPS * DEMO_DT, low, high, log };
    int shot;
    plot_band(&p, demo_touch(r) * DEMO_DT, DEMO_OPENS * DEMO_DT, PLOT_SHADE);
    for (shot = 0; shot < DEMO_SHOTS; shot++) {
        const double x = plot_x(&p, r->time[demo_shots[shot]]);
        plot_segment(file, x, top, x, top + height, demo_faint);
    }
    return p;
}

/* Names of the phases and moments, above the first panel. */
static void demo_names(const plot_panel *p, const demo_record *r)
{
    const double hold = demo_touch(r) * DEMO_DT, open = DEMO_OPENS * DEMO_DT;
    const double closed = r->time[demo_shots[1]], y = p->top + 14;
    plot_text(p->file, plot_x(p, hold / 2), y, "middle", 12, PLOT_FAINT, "closes");
    plot_text(p->file, plot_x(p, (hold + closed) / 2), y, "middle", 12, PLOT_FAINT, "holds");
    plot_text(p->file, plot_x(p, (open + p->x_high) / 2), y, "middle", 12, PLOT_FAINT, "opens");
    plot_text(p->file, plot_x(p, r->time[demo_shots[0]]) + 5, y, "start", 12, PLOT_INK, "A");
    plot_text(p->file, plot_x(p, closed) + 5, y, "start", 12, PLOT_INK, "B");
}

static void demo_angles(FILE *file, const demo_record *r, double touch)
{
    const plot_panel p = demo_panel(file, r, 90, 142, -0.8, 0.8, 0);
    double x = DEMO_LEFT;
    int k;

    demo_names(&p, r);
    plot_y_axis(&p, 0.4, "%.1f", "angle [rad]");
    plot_level(&p, touch, demo_faint);
    plot_text(file, plot_x(&p, 0.02), plot_y(&p, touch) - 5, "start", 11, PLOT_FAINT,
              "the object's surface");
    plot_curve(&p, r->time, r->leader, DEMO_STEPS, demo_leader);
    for (k = 0; k < ROBOTIQ_MIMICS; k++) {
        const int same = r->follower[k][DEMO_OPENS - 1] > 0;
        plot_curve(&p, r->time, r->follower[k], DEMO_STEPS, same ? demo_dashed : demo_opposite);
    }
    plot_x_axis(&p, 0.2, NULL, NULL);
    x = plot_key(file, x, 82, demo_leader, "driven joint");
    x = plot_key(file, x, 82, demo_same, "2 followers, times 1");
    plot_key(file, x, 82, demo_opposite, "3 followers, times &#8722;1");
}

/* The largest error in each hundredth of a second: single steps would be a carpet. */
static void demo_errors(FILE *file, const demo_record *r, double bound, double low, double high)
{
    enum { EACH = 10, BINS = DEMO_STEPS / EACH };
    const plot_panel p = demo_panel(file, r, 270, 64, low, high, 1);
    static double time[2 * BINS], worst[2 * BINS];
    const plot_pen pen = { PLOT_GREEN, 1.4, NULL };
    char label[96];
    int i, k;

    for (i = 0; i < BINS; i++) {
        double most = 0;
        for (k = 0; k < EACH; k++) {
            most = worse(most, r->error[i * EACH + k]);
        }
        time[2 * i] = i * EACH * DEMO_DT;
        time[2 * i + 1] = (i + 1) * EACH * DEMO_DT;
        worst[2 * i] = worst[2 * i + 1] = most;
    }
    plot_y_axis(&p, 2, "%.0f", "error [rad]");
    plot_area(&p, time, worst, 2 * BINS, 0, PLOT_MINT);
    plot_curve(&p, time, worst, 2 * BINS, pen);
    plot_level(&p, bound, demo_faint);
    plot_x_axis(&p, 0.2, NULL, NULL);
    plot_key(file, DEMO_LEFT, 262, pen, "largest |q_follower &#8722; multiplier q_leader|");
    plot_text(file, plot_x(&p, 0.78), p.top + p.height - 8, "middle", 11, PLOT_FAINT,
              "no bar: equal to the last digit");
    snprintf(label, sizeof label, "checked bound: %.1e", bound);
    plot_key(file, DEMO_LEFT + 318, 262, demo_faint, label);
}

static void demo_forces(FILE *file, const demo_record *r)
{
    const plot_panel p = demo_panel(file, r, 372, 130, -4, 6, 0);
    const plot_pen drive = { demo_leader.color, 2.4, NULL }, grip = { PLOT_AMBER, 1.4, NULL };
    const double middle = plot_x(&p, 0.78), *left = r->share[0], *right = r->share[2];
    static double scaled[DEMO_STEPS];
    double x = DEMO_LEFT;
    int i, k;

    for (i = 0; i < DEMO_STEPS; i++) {
        scaled[i] = r->grip[i] / 10; /* the right axis: 10 N to 1 N m of the left */
    }
    plot_y_axis(&p, 2, "%.0f", "torque [N m]");
    plot_y_axis_right(&p, 0, 20, 10, "%.0f", PLOT_AMBER, "grip force [N]");
    plot_area(&p, r->time, scaled, DEMO_STEPS, 0, PLOT_SAND);
    plot_curve(&p, r->time, scaled, DEMO_STEPS, grip);
    for (k = 0; k < ROBOTIQ_MIMICS; k++) {
        const int same = r->follower[k][DEMO_OPENS - 1] > 0;
        plot_curve(&p, r->time, r->share[k], DEMO_STEPS, same ? demo_same : demo_opposite);
    }
    plot_curve(&p, r->time, r->drive, DEMO_STEPS, drive);
    plot_text(file, middle, plot_y(&p, left[DEMO_OPENS - 1]) - 6, "middle", 11, PLOT_INK,
              "to the left inner knuckle");
    plot_text(file, middle, plot_y(&p, right[DEMO_OPENS - 1]) + 14, "middle", 11, PLOT_INK,
              "to the right inner knuckle");
    plot_text(file, middle, plot_y(&p, 0) + 14, "middle", 11, PLOT_INK,
              "the other three: weight");
    plot_x_axis(&p, 0.2, "%.1f", "time [s]");
    plot_text(file, DEMO_LEFT + DEMO_INNER, p.top + p.height + 38, "end", 11, PLOT_FAINT,
              BY_SCALAR("in double, steps of 1 ms", "in float, steps of 1 ms",
                        "in integers, steps of 1 ms"));
    x = plot_key(file, x, 364, drive, "drive");
    x = plot_key(file, x, 364, demo_same, "couplings, times 1");
    x = plot_key(file, x, 364, demo_opposite, "times &#8722;1");
    plot_key(file, x, 364, grip, "grip, right scale");
}

/* 0 when the picture is written. */
static int demo_picture(const char *path, const demo_record *r, double touch, double bound)
{
    const int decade = BY_SCALAR(-15, -6, -9);
    FILE *file = plot_open(path, 900, 560, "Robotiq 2F-85: one drive, five mimic couplings, an "
                           "object between the pads",
                           "The followers keep to the driven joint to the last digit; the drive "
                           "reaches its limit, 5 N m, and two couplings carry it to the pads.");
    if (!file) {
        return -1;
    }
    demo_postures(file, r);
    demo_angles(file, r, touch);
    demo_errors(file, r, bound, decade - 4, decade);
    demo_forces(file, r);
    return plot_close(file);
}

#endif
