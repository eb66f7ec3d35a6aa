/* demo_posture.h - the upper part of the picture of demo.c: the gripper as its links stand, from
   the poses that demo.c recorded; and what all parts of the picture share. */

#ifndef EXAMPLES_DEMO_POSTURE_H
#define EXAMPLES_DEMO_POSTURE_H

#include "plot.h"

static const plot_pen demo_leader = { "#0b5394", 3.6, NULL };
static const plot_pen demo_same = { "#6db6ef", 1.8, NULL };     /* followers, multiplier 1 */
static const plot_pen demo_dashed = { "#a8d8ff", 1.6, "7 6" };  /* the same on top of the leader */
static const plot_pen demo_opposite = { "#c8553d", 1.8, NULL }; /* followers, multiplier -1 */
static const plot_pen demo_faint = { "#888888", 1.2, "4 3" };

typedef struct demo_view {
    FILE *file;
    double x, y, scale; /* pixels of the base's origin; pixels for a metre */
    const demo_record *r;
    int shot;
} demo_view;

/* A line of a body through points (x, z) of its own axes, as seen from the front: left is left. */
static void demo_link(const demo_view *view, int body, const double (*points)[2], int count,
                      plot_pen pen)
{
    const mdyn_real4 *t = &view->r->turn[view->shot][body];
    const double w = real(t->w), x = real(t->x), y = real(t->y), z = real(t->z);
    const double ox = real(view->r->origin[view->shot][body].x);
    const double oz = real(view->r->origin[view->shot][body].z);
    int i;

    fprintf(view->file, "<path stroke-linecap=\"round\" d=\"");
    for (i = 0; i < count; i++) {
        const double a = points[i][0], b = points[i][1]; /* R (a, 0, b) */
        const double px = ox + (1 - 2 * (y * y + z * z)) * a + 2 * (x * z + w * y) * b;
        const double pz = oz + 2 * (x * z - w * y) * a + (1 - 2 * (x * x + y * y)) * b;
        fprintf(view->file, "%c%.2f %.2f", i ? 'L' : 'M', view->x - view->scale * px,
                view->y - view->scale * pz);
    }
    fprintf(view->file, "\"");
    plot_stroke(view->file, pen);
}

static void demo_posture(const demo_view *view)
{
    static const double outer[][2] = { { 0, 0 }, { 0.0317, -0.0019 }, { 0.0346, 0.0455 } };
    static const double inner[][2] = { { 0, 0 }, { 0.0346, 0.0455 } };
    static const double tip[][2] = { { 0.0179, -0.0065 }, { 0, 0 }, { 0.0005, 0.012 } };
    static const double pad[][2] = { { -0.0012, 0.012 }, { -0.0012, 0.044 } };
    static const double base[][2] = { { 0.022, 0.008 }, { 0.030, 0.056 }, { -0.030, 0.056 },
                                      { -0.022, 0.008 }, { 0.022, 0.008 } };
    static const int fingers[2][3] = {
        { ROBOTIQ_LEFT_OUTER_KNUCKLE, ROBOTIQ_LEFT_INNER_KNUCKLE, ROBOTIQ_LEFT_INNER_FINGER },
        { ROBOTIQ_RIGHT_OUTER_KNUCKLE, ROBOTIQ_RIGHT_INNER_KNUCKLE, ROBOTIQ_RIGHT_INNER_FINGER },
    };
    const plot_pen metal = { "#a9b1ba", 4, NULL }, rubber = { "#3c4650", 6, NULL };
    plot_pen body = { "#cfd5db", 9, NULL }, link = demo_opposite;
    int side;

    plot_box(view->file, view->x - 0.020 * view->scale, view->y - 0.171 * view->scale,
             0.040 * view->scale, 0.032 * view->scale, "#f0c987");
    for (side = 0; side < 2; side++) {
        demo_link(view, fingers[side][1], inner, 2, metal);
        demo_link(view, fingers[side][2], tip, 3, metal);
        demo_link(view, fingers[side][2], pad, 2, rubber);
        link.colour = side == 0 ? demo_leader.colour : demo_opposite.colour;
        link.width = 4.5;
        demo_link(view, fingers[side][0], outer, 3, link);
    }
    demo_link(view, ROBOTIQ_BASE_LINK, base, 5, body);
}

#define DEMO_WIDTH 900
#define DEMO_HEIGHT 838
#define DEMO_LEFT 78
#define DEMO_INNER 752

static plot_panel demo_panel(FILE *file, double top, double height, double low, double high,
                             int log)
{
    const plot_panel p = { file, DEMO_LEFT, top, DEMO_INNER, height,
                           0, DEMO_STEPS * DEMO_DT, low, high, log };
    return p;
}

/* The step of the first contact: where the phase "hold" begins. */
static int demo_touch(const demo_record *r)
{
    int i = 0;
    while (i < DEMO_OPENS && r->grip[i] <= 0) {
        i++;
    }
    return i;
}

static void demo_phases(const plot_panel *p, const demo_record *r)
{
    const double hold = demo_touch(r) * DEMO_DT, open = DEMO_OPENS * DEMO_DT;
    plot_band(p, hold, open, "#f4f6f9");
}

static void demo_strip(FILE *file, const demo_record *r)
{
    const plot_panel p = demo_panel(file, 66, 156, 0, 1, 0);
    const double hold = demo_touch(r) * DEMO_DT, open = DEMO_OPENS * DEMO_DT;
    demo_view view = { file, 0, 218, 820, r, 0 };
    char when[32];

    demo_phases(&p, r);
    plot_text(file, plot_x(&p, hold / 2), 60, "middle", 13, PLOT_INK, "close");
    plot_text(file, plot_x(&p, (hold + open) / 2), 60, "middle", 13, PLOT_INK, "hold");
    plot_text(file, plot_x(&p, (open + p.x_high) / 2), 60, "middle", 13, PLOT_INK, "open");
    for (view.shot = 0; view.shot < DEMO_SHOTS; view.shot++) {
        view.x = plot_x(&p, (view.shot + 0.5) * p.x_high / DEMO_SHOTS);
        demo_posture(&view);
        snprintf(when, sizeof when, "at %.1f s", (view.shot + 0.5) * p.x_high / DEMO_SHOTS);
        plot_text(file, view.x, 236, "middle", 11, "#777777", when);
    }
}

#endif
