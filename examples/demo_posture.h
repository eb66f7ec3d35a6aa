/* demo_posture.h - the left part of the picture of demo.c: the gripper as its links stand, from
   the poses that demo.c recorded, with the positive directions; and what both parts share. */

#ifndef EXAMPLES_DEMO_POSTURE_H
#define EXAMPLES_DEMO_POSTURE_H

#include "plot.h"

static const plot_pen demo_leader = { PLOT_BLUE, 3.6, NULL };
static const plot_pen demo_same = { PLOT_SKY, 1.8, NULL };     /* followers, multiplier 1 */
static const plot_pen demo_dashed = { PLOT_ICE, 1.6, "7 6" };  /* the same on top of the leader */
static const plot_pen demo_opposite = { PLOT_RED, 1.8, NULL }; /* followers, multiplier -1 */
static const plot_pen demo_faint = { PLOT_FAINT, 1.2, "4 3" };

typedef struct demo_view {
    FILE *file;
    double x, y, scale; /* pixels of the base's origin; pixels for a meter */
    const demo_record *r;
    int shot;
} demo_view;

/* A point (a, b) of a body's x-z plane in pixels, as seen from the front: left is left. */
static void demo_point(const demo_view *view, int body, double a, double b, double *px, double *py)
{
    const mdyn_real4 *t = &view->r->turn[view->shot][body];
    const mdyn_real3 *o = &view->r->origin[view->shot][body];
    const double w = real(t->w), x = real(t->x), y = real(t->y), z = real(t->z);
    const double to_left = real(o->x) + (1 - 2 * (y * y + z * z)) * a + 2 * (x * z + w * y) * b;
    const double up = real(o->z) + 2 * (x * z - w * y) * a + (1 - 2 * (x * x + y * y)) * b;
    *px = view->x - view->scale * to_left;
    *py = view->y - view->scale * up;
}

/* A line of a body through points (x, z) of its own axes. */
static void demo_link(const demo_view *view, int body, const double (*points)[2], int count,
                      plot_pen pen)
{
    double x, y;
    int i;
    fprintf(view->file, "<path stroke-linecap=\"round\" d=\"");
    for (i = 0; i < count; i++) {
        demo_point(view, body, points[i][0], points[i][1], &x, &y);
        fprintf(view->file, "%c%.2f %.2f", i ? 'L' : 'M', x, y);
    }
    fprintf(view->file, "\"");
    plot_stroke(view->file, pen);
}

/* Which way a joint's angle grows: its axis, turned into the world, is along y or against it; who
   looks along -y sees a turn about y counterclockwise. */
static void demo_sense(const demo_view *view, int body, const char *color)
{
    const mdyn_real4 *t = &view->r->turn[view->shot][body];
    const double upright = 1 - 2 * (real(t->x) * real(t->x) + real(t->z) * real(t->z));
    const double along_y = upright * wide(robotiq_2f85_bodies[body].axis.y);
    const plot_pen pen = { color, 1.8, NULL };
    double x, y;
    demo_point(view, body, 0, 0, &x, &y);
    plot_turn(view->file, x, y, 21, along_y > 0 ? -2.4 : -0.6, along_y > 0 ? 1.8 : -1.8, pen);
    plot_text(view->file, x, y + 38, "middle", 12, color, "+q");
}

static void demo_posture(const demo_view *view)
{
    static const double outer[][2] = { { 0, 0 }, { 0.0317, -0.0019 }, { 0.0346, 0.0455 } };
    static const double inner[][2] = { { 0, 0 }, { 0.0346, 0.0455 } };
    static const double tip[][2] = { { 0.0179, -0.0065 }, { 0, 0 }, { 0.0005, 0.012 } };
    static const double pad[][2] = { { -0.0012, 0.012 }, { -0.0012, 0.044 } };
    static const double base[][2] = { { 0.014, 0.030 }, { 0.022, 0.060 }, { -0.022, 0.060 },
                                      { -0.014, 0.030 }, { 0.014, 0.030 } };
    static const int fingers[2][3] = {
        { ROBOTIQ_LEFT_OUTER_KNUCKLE, ROBOTIQ_LEFT_INNER_KNUCKLE, ROBOTIQ_LEFT_INNER_FINGER },
        { ROBOTIQ_RIGHT_OUTER_KNUCKLE, ROBOTIQ_RIGHT_INNER_KNUCKLE, ROBOTIQ_RIGHT_INNER_FINGER },
    };
    const plot_pen metal = { PLOT_STEEL, 5, NULL }, rubber = { PLOT_RUBBER, 8, NULL };
    const plot_pen body = { PLOT_SILVER, 11, NULL };
    int side;

    plot_box(view->file, view->x - 0.020 * view->scale, view->y - 0.171 * view->scale,
             0.040 * view->scale, 0.032 * view->scale, PLOT_BOX);
    demo_link(view, ROBOTIQ_BASE_LINK, base, 5, body);
    for (side = 0; side < 2; side++) {
        const plot_pen link = { side == 0 ? PLOT_BLUE : PLOT_RED, 6, NULL };
        demo_link(view, fingers[side][1], inner, 2, metal);
        demo_link(view, fingers[side][2], tip, 3, metal);
        demo_link(view, fingers[side][2], pad, 2, rubber);
        demo_link(view, fingers[side][0], outer, 3, link);
        demo_sense(view, fingers[side][0], link.color);
    }
}

/* Where the object is held: the two forces of the grip on it, both positive. */
static void demo_grip(const demo_view *view)
{
    const double y = view->y - 0.155 * view->scale, out = 0.046 * view->scale;
    const double in = 0.021 * view->scale;
    const plot_pen pen = { PLOT_AMBER, 2.4, NULL };
    plot_arrow(view->file, view->x - out, y, view->x - in, y, pen);
    plot_arrow(view->file, view->x + out, y, view->x + in, y, pen);
    plot_text(view->file, view->x, y + 4, "middle", 12, PLOT_INK, "grip");
}

/* The postures one below the other. */
static void demo_postures(FILE *file, const demo_record *r)
{
    static const char *const names[DEMO_SHOTS] = { "A: open", "B: closed on the object" };
    demo_view view = { file, 142, 0, 1240, r, 0 };
    char text[64];

    for (view.shot = 0; view.shot < DEMO_SHOTS; view.shot++) {
        view.y = 310 + 230 * view.shot;
        demo_posture(&view);
        snprintf(text, sizeof text, "%s, %.1f s", names[view.shot], r->time[demo_shots[view.shot]]);
        plot_text(file, view.x, view.y - 224, "middle", 13, PLOT_INK, text);
    }
    view.shot = DEMO_SHOTS - 1;
    demo_grip(&view);
    plot_text(file, view.x, 550, "middle", 11, PLOT_FAINT,
              "+q: angles and torques count positive this way");
}

#endif
