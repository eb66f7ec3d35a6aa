/* plot.h - a small writer of line plots as SVG: panels with axes, curves, filled areas, shaded
   bands, legends, arrows and plain shapes. Everything is drawn where the caller says, in pixels;
   within a panel in the units of its axes. Only needs stdio and math.
   Colors are attributes, so that every viewer knows them; one that knows prefers-color-scheme
   replaces them by their dark counterparts. */

#ifndef EXAMPLES_PLOT_H
#define EXAMPLES_PLOT_H

#include <math.h>
#include <stdio.h>

typedef struct plot_panel {
    FILE *file;
    double left, top, width, height;         /* in pixels */
    double x_low, x_high, y_low, y_high;     /* in units of the axes; y_*: log10 if `log` */
    int log;
} plot_panel;

typedef struct plot_pen {
    const char *color;
    double width;
    const char *dash; /* SVG's stroke-dasharray, e.g. "4 3"; NULL: solid */
} plot_pen;

#define PLOT_PAPER "#ffffff"
#define PLOT_INK "#333333"
#define PLOT_FAINT "#777777"
#define PLOT_FRAME "#9a9a9a"
#define PLOT_GRID "#e3e3e3"
#define PLOT_SHADE "#f4f6f9"
#define PLOT_BLUE "#0b5394"
#define PLOT_SKY "#6db6ef"
#define PLOT_ICE "#a8d8ff"
#define PLOT_RED "#c8553d"
#define PLOT_GREEN "#2a7f62"
#define PLOT_MINT "#d5e9e1"
#define PLOT_AMBER "#9c6a10"
#define PLOT_SAND "#f8e6c6"
#define PLOT_BOX "#f0c987"
#define PLOT_STEEL "#a9b1ba"
#define PLOT_SILVER "#cfd5db"
#define PLOT_RUBBER "#3c4650"

/* Each color as drawn, and on a dark page. */
static const char *const plot_colors[][2] = {
    { PLOT_PAPER, "#0d1117" },  { PLOT_INK, "#dddddd" },   { PLOT_FAINT, "#9aa4ae" },
    { PLOT_FRAME, "#6e7681" },  { PLOT_GRID, "#2b3138" },  { PLOT_SHADE, "#171d26" },
    { PLOT_BLUE, "#4a94e8" },   { PLOT_SKY, "#9ccfff" },   { PLOT_ICE, "#d6eaff" },
    { PLOT_RED, "#f0806a" },    { PLOT_GREEN, "#4cc29a" }, { PLOT_MINT, "#17392d" },
    { PLOT_AMBER, "#e3b341" },  { PLOT_SAND, "#3b2e14" },  { PLOT_BOX, "#b98a3c" },
    { PLOT_STEEL, "#7d8590" },  { PLOT_SILVER, "#4b545f" }, { PLOT_RUBBER, "#c9d1d9" },
};

/* ------------------------------------------------------------------------------ the page */

#define PLOT_MARGIN 20 /* where titles begin, in pixels */

/* anchor: "start", "middle" or "end" */
static inline void plot_text(FILE *file, double x, double y, const char *anchor, double size,
                             const char *color, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%g\" fill=\"%s\">"
            "%s</text>\n", x, y, anchor, size, color, text);
}

/* Opens the picture, NULL if it cannot. `see` is what there is to see, in one line: it is printed
   and stands below the title. Drawing may begin 60 pixels from the top. */
static inline FILE *plot_open(const char *path, double width, double height, const char *title,
                              const char *see)
{
    FILE *file = fopen(path, "w");
    size_t i;

    if (!file) {
        return NULL;
    }
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
            "viewBox=\"0 0 %g %g\" role=\"img\" font-family=\"Helvetica, Arial, 'Liberation Sans', "
            "'DejaVu Sans', sans-serif\">\n<title>%s</title>\n<style>\n"
            "@media (prefers-color-scheme: dark) {\n", width, height, width, height, title);
    for (i = 0; i < sizeof plot_colors / sizeof plot_colors[0]; i++) {
        const char *light = plot_colors[i][0], *dark = plot_colors[i][1];
        fprintf(file, "[fill=\"%s\"] { fill: %s } [stroke=\"%s\"] { stroke: %s }\n", light, dark,
                light, dark);
    }
    fprintf(file, "}\n</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n"
            "<g font-weight=\"bold\">\n", PLOT_PAPER);
    plot_text(file, PLOT_MARGIN, 26, "start", 17, PLOT_INK, title);
    fprintf(file, "</g>\n");
    plot_text(file, PLOT_MARGIN, 46, "start", 12, PLOT_INK, see);
    printf("picture: %s\nto see: %s\n", path, see);
    return file;
}

/* 0 if all of it reached the file. */
static inline int plot_close(FILE *file)
{
    int bad;
    fprintf(file, "</svg>\n");
    bad = ferror(file);
    return fclose(file) != 0 || bad ? -1 : 0;
}

static inline void plot_stroke(FILE *file, plot_pen pen)
{
    fprintf(file, " fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-linejoin=\"round\"",
            pen.color, pen.width);
    if (pen.dash) {
        fprintf(file, " stroke-dasharray=\"%s\"", pen.dash);
    }
    fprintf(file, "/>\n");
}

static inline void plot_segment(FILE *file, double x1, double y1, double x2, double y2,
                                plot_pen pen)
{
    fprintf(file, "<path d=\"M%.2f %.2fL%.2f %.2f\"", x1, y1, x2, y2);
    plot_stroke(file, pen);
}

static inline void plot_box(FILE *file, double x, double y, double width, double height,
                            const char *fill)
{
    fprintf(file, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", x,
            y, width, height, fill);
}

/* The head of an arrow, its tip at (x, y), pointing along (dx, dy) of length 1. */
static inline void plot_head(FILE *file, double x, double y, double dx, double dy,
                             const char *color)
{
    const double bx = x - 9 * dx, by = y - 9 * dy;
    fprintf(file, "<path d=\"M%.2f %.2fL%.2f %.2fL%.2f %.2fZ\" fill=\"%s\"/>\n", x, y,
            bx - 4 * dy, by + 4 * dx, bx + 4 * dy, by - 4 * dx, color);
}

/* An arrow; it points along `to` - `from`. */
static inline void plot_arrow(FILE *file, double x1, double y1, double x2, double y2, plot_pen pen)
{
    const double length = hypot(x2 - x1, y2 - y1);
    const double dx = (x2 - x1) / length, dy = (y2 - y1) / length;
    plot_segment(file, x1, y1, x2 - 8 * dx, y2 - 8 * dy, pen);
    plot_head(file, x2, y2, dx, dy, pen.color);
}

/* An arrow about (x, y): begins at angle `from` and turns by `turn`, less than half a turn, in
   radians counterclockwise. */
static inline void plot_turn(FILE *file, double x, double y, double radius, double from,
                             double turn, plot_pen pen)
{
    const double sense = turn < 0 ? -1 : 1, to = from + turn;
    const double short_of = to - sense * 8 / radius; /* the line ends inside of the head */
    fprintf(file, "<path d=\"M%.2f %.2fA%g %g 0 0 %d %.2f %.2f\"", x + radius * cos(from),
            y - radius * sin(from), radius, radius, sense < 0, x + radius * cos(short_of),
            y - radius * sin(short_of));
    plot_stroke(file, pen);
    plot_head(file, x + radius * cos(to), y - radius * sin(to),
              -sense * sin(to - sense * 4 / radius), -sense * cos(to - sense * 4 / radius),
              pen.color);
}

/* A sample of the pen and what it stands for; returns where the next one may begin. */
static inline double plot_key(FILE *file, double x, double y, plot_pen pen, const char *label)
{
    int letters = 0;
    plot_segment(file, x, y - 4, x + 22, y - 4, pen);
    plot_text(file, x + 28, y, "start", 12, PLOT_INK, label);
    while (label[letters]) {
        letters++;
    }
    return x + 28 + 6.1 * letters + 18; /* 6.1: a usual letter of 12 pixels */
}

/* ------------------------------------------------------------------------------ the panel */

static inline double plot_x(const plot_panel *p, double x)
{
    return p->left + p->width * (x - p->x_low) / (p->x_high - p->x_low);
}

/* Values outside the axis are drawn at its edge, so that nothing leaves the panel. */
static inline double plot_y(const plot_panel *p, double y)
{
    double part = p->log && y <= 0 ? 0
                : ((p->log ? log10(y) : y) - p->y_low) / (p->y_high - p->y_low);
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return p->top + p->height * (1 - part);
}

/* Shaded from x to x; for phases and the like. */
static inline void plot_band(const plot_panel *p, double from, double to, const char *fill)
{
    plot_box(p->file, plot_x(p, from), p->top, plot_x(p, to) - plot_x(p, from), p->height, fill);
}

/* A number as text, with a true minus sign; rounding errors of zero are zero. */
static inline void plot_number(char *text, size_t size, const char *format, double value,
                               double step)
{
    char digits[48];
    snprintf(digits, sizeof digits, format, fabs(value) < step * 1e-6 ? 0.0 : fabs(value));
    snprintf(text, size, "%s%s", value < -step * 1e-6 ? "&#8722;" : "", digits);
}

/* The title of a vertical axis, along it; x is that of the middle of its letters. */
static inline void plot_y_title(const plot_panel *p, double x, const char *color,
                                const char *title)
{
    const double y = p->top + p->height / 2;
    fprintf(p->file, "<g transform=\"translate(%.1f %.1f) rotate(-90)\">\n", x, y);
    plot_text(p->file, 0, 4, "middle", 13, color, title);
    fprintf(p->file, "</g>\n");
}

/* Horizontal grid lines with numbers at the left; on a log axis `step` counts decades. Numbers and
   title need PLOT_LEFT pixels left of the panel. */
#define PLOT_LEFT 72
static inline void plot_y_axis(const plot_panel *p, double step, const char *format,
                               const char *title)
{
    static const plot_pen grid = { PLOT_GRID, 1, NULL };
    char number[64];
    int i;

    for (i = 0; p->y_low + i * step <= p->y_high + step * 1e-6; i++) {
        const double value = p->y_low + i * step;
        const double at = plot_y(p, p->log ? pow(10, value) : value);
        plot_segment(p->file, p->left, at, p->left + p->width, at, grid);
        plot_number(number, sizeof number, format, value, step);
        if (p->log) {
            fprintf(p->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" font-size=\"12\" "
                    "fill=\"%s\">10<tspan dy=\"-5\" font-size=\"9\">%s</tspan></text>\n",
                    p->left - 8, at + 5, PLOT_INK, number);
        } else {
            plot_text(p->file, p->left - 8, at + 4, "end", 12, PLOT_INK, number);
        }
    }
    plot_y_title(p, p->left - PLOT_LEFT + 16, PLOT_INK, title);
}

/* A second scale at the right edge: `unit` of it lie on 1 of the left one. */
static inline void plot_y_axis_right(const plot_panel *p, double from, double step, double unit,
                                     const char *format, const char *color, const char *title)
{
    char number[64];
    int i;

    for (i = 0; (from + i * step) / unit <= p->y_high + 1e-9; i++) {
        const double value = from + i * step;
        plot_number(number, sizeof number, format, value, step);
        plot_text(p->file, p->left + p->width + 8, plot_y(p, value / unit) + 4, "start", 12,
                  color, number);
    }
    plot_y_title(p, p->left + p->width + 44, color, title);
}

/* Frame and ticks below; numbers only if there is a title. */
static inline void plot_x_axis(const plot_panel *p, double step, const char *format,
                               const char *title)
{
    static const plot_pen frame = { PLOT_FRAME, 1, NULL };
    const double bottom = p->top + p->height;
    char number[64];
    int i;

    plot_segment(p->file, p->left, p->top, p->left, bottom, frame);
    plot_segment(p->file, p->left, bottom, p->left + p->width, bottom, frame);
    for (i = 0; p->x_low + i * step <= p->x_high + step * 1e-6; i++) {
        const double x = plot_x(p, p->x_low + i * step);
        plot_segment(p->file, x, bottom, x, bottom + 4, frame);
        if (title) {
            plot_number(number, sizeof number, format, p->x_low + i * step, step);
            plot_text(p->file, x, bottom + 18, "middle", 12, PLOT_INK, number);
        }
    }
    if (title) {
        plot_text(p->file, p->left + p->width / 2, bottom + 38, "middle", 13, PLOT_INK, title);
    }
}

/* The points of a curve as "Lx y", leaving out those that a straight line passes within 0.12
   pixels: from the last point written, keep the slopes that still touch all points since. */
static inline void plot_points(const plot_panel *p, const double *x, const double *y, int count)
{
    double x0 = plot_x(p, x[0]), y0 = plot_y(p, y[0]), low = -1e30, high = 1e30;
    int i;

    fprintf(p->file, "%.2f %.2f", x0, y0);
    for (i = 1; i < count; i++) {
        const double x1 = plot_x(p, x[i]), y1 = plot_y(p, y[i]);
        const double slope = (y1 - y0) / (x1 - x0), reach = x1 < x0 ? -0.12 : 0.12;
        const double last = plot_x(p, x[i - 1]);
        const int returns = (x1 - last) * (last - x0) < 0;
        if (returns || slope < low || slope > high) { /* a line ends at the point before */
            x0 = last;
            y0 = plot_y(p, y[i - 1]);
            fprintf(p->file, "L%.2f %.2f", x0, y0);
            low = -1e30;
            high = 1e30;
        }
        low = fmax(low, (y1 - reach - y0) / (x1 - x0));
        high = fmin(high, (y1 + reach - y0) / (x1 - x0));
    }
    fprintf(p->file, "L%.2f %.2f", plot_x(p, x[count - 1]), plot_y(p, y[count - 1]));
}

static inline void plot_curve(const plot_panel *p, const double *x, const double *y, int count,
                              plot_pen pen)
{
    fprintf(p->file, "<path d=\"M");
    plot_points(p, x, y, count);
    fprintf(p->file, "\"");
    plot_stroke(p->file, pen);
}

/* Filled between the curve and y = base. */
static inline void plot_area(const plot_panel *p, const double *x, const double *y, int count,
                             double base, const char *fill)
{
    fprintf(p->file, "<path d=\"M");
    plot_points(p, x, y, count);
    fprintf(p->file, "L%.2f %.2fL%.2f %.2fZ\" fill=\"%s\"/>\n", plot_x(p, x[count - 1]),
            plot_y(p, base), plot_x(p, x[0]), plot_y(p, base), fill);
}

/* A horizontal line across the panel. */
static inline void plot_level(const plot_panel *p, double y, plot_pen pen)
{
    plot_segment(p->file, p->left, plot_y(p, y), p->left + p->width, plot_y(p, y), pen);
}

#endif
