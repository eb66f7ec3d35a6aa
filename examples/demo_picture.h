/* demo_picture.h - the picture of demo.c: the gripper's posture at five moments, joint angles,
   coupling error and forces over one time axis. */

#ifndef EXAMPLES_DEMO_PICTURE_H
#define EXAMPLES_DEMO_PICTURE_H

#include "demo_posture.h"

static void demo_angles(FILE *file, const demo_record *r, double touch)
{
    const plot_panel p = demo_panel(file, 272, 150, -0.6, 0.6, 0);
    double x = DEMO_LEFT;
    int k;

    demo_phases(&p, r);
    plot_y_axis(&p, 0.2, "%.1f", "joint angle [rad]");
    plot_level(&p, touch, demo_faint);
    plot_text(file, plot_x(&p, 0.02), plot_y(&p, touch) - 5, "start", 11, "#777777",
              "the object's surface");
    plot_curve(&p, r->time, r->leader, DEMO_STEPS, demo_leader);
    for (k = 0; k < ROBOTIQ_MIMICS; k++) {
        const int same = r->follower[k][DEMO_OPENS - 1] > 0;
        plot_curve(&p, r->time, r->follower[k], DEMO_STEPS, same ? demo_dashed : demo_opposite);
    }
    plot_x_axis(&p, 0.2, NULL, NULL);
    x = plot_key(file, x, 264, demo_leader, "finger_joint, driven");
    x = plot_key(file, x, 264, demo_same, "two followers, multiplier 1, on top of it");
    plot_key(file, x, 264, demo_opposite, "three followers, multiplier &#8722;1");
}

/* The largest error in each hundredth of a second: single steps would be a carpet. */
static void demo_errors(FILE *file, const demo_record *r, double bound, double low, double high)
{
    enum { EACH = 10, BINS = DEMO_STEPS / EACH };
    const plot_panel p = demo_panel(file, 464, 110, low, high, 1);
    static double time[2 * BINS], worst[2 * BINS];
    const plot_pen pen = { "#2a7f62", 1.4, NULL };
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
    demo_phases(&p, r);
    plot_y_axis(&p, 1, "%.0f", "coupling error [rad]");
    plot_area(&p, time, worst, 2 * BINS, 0, "#d5e9e1");
    plot_curve(&p, time, worst, 2 * BINS, pen);
    plot_level(&p, bound, demo_faint);
    plot_x_axis(&p, 0.2, NULL, NULL);
    plot_key(file, DEMO_LEFT, 456, pen, "largest |q_follower &#8722; multiplier q_leader|");
    plot_text(file, plot_x(&p, 0.85), p.top + p.height - 8, "middle", 11, "#777777",
              "no bar: equal to the last digit");
    snprintf(label, sizeof label, "bound that the demo checks: %.1e rad", bound);
    plot_key(file, DEMO_LEFT + 330, 456, demo_faint, label);
}

static void demo_forces(FILE *file, const demo_record *r)
{
    const plot_panel p = demo_panel(file, 616, 170, -4, 8, 0);
    const plot_pen drive = { demo_leader.colour, 2.4, NULL }, grip = { "#d99a2b", 1.4, NULL };
    const double middle = plot_x(&p, 0.85), *left = r->share[0], *right = r->share[2];
    static double scaled[DEMO_STEPS];
    double x = DEMO_LEFT;
    int i, k;

    for (i = 0; i < DEMO_STEPS; i++) {
        scaled[i] = r->grip[i] / 10; /* the right axis: 10 N to 1 N m of the left */
    }
    demo_phases(&p, r);
    plot_y_axis(&p, 2, "%.0f", "torque [N m]");
    plot_y_axis_right(&p, 0, 20, 10, "%.0f", "#9c6a10", "grip force [N]");
    plot_area(&p, r->time, scaled, DEMO_STEPS, 0, "#f8e6c6");
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
              "the other three: nothing but weight");
    plot_x_axis(&p, 0.2, "%.1f", "time [s]");
    plot_text(file, DEMO_LEFT + DEMO_INNER, p.top + p.height + 38, "end", 11, "#777777",
              BY_SCALAR("computed in double, steps of 1 ms", "computed in float, steps of 1 ms",
                        "computed in integers, steps of 1 ms"));
    x = plot_key(file, x, 608, drive, "drive");
    x = plot_key(file, x, 608, demo_same, "couplings, multiplier 1");
    x = plot_key(file, x, 608, demo_opposite, "couplings, multiplier &#8722;1");
    plot_key(file, x, 608, grip, "grip on the object (right scale)");
}

/* 0 when the picture is written. */
static int demo_picture(const char *path, const demo_record *r, double touch, double bound)
{
    const int decade = BY_SCALAR(-15, -6, -9);
    FILE *file = plot_open(path, DEMO_WIDTH, DEMO_HEIGHT,
                           "A Robotiq 2F-85 gripper closes, holds, opens");
    if (!file) {
        return -1;
    }
    fprintf(file, "<text x=\"%d\" y=\"28\" font-size=\"17\" font-weight=\"bold\" fill=\"%s\">"
            "Robotiq 2F-85: one drive, five mimic couplings, an object between the pads"
            "</text>\n", DEMO_LEFT, PLOT_INK);
    demo_strip(file, r);
    demo_angles(file, r, touch);
    demo_errors(file, r, bound, decade - 4, decade);
    demo_forces(file, r);
    return plot_close(file);
}

#endif
