/* plot.h - a small writer of line plots as SVG: panels with axes, curves, filled areas, shaded
   bands, legends and plain shapes. Everything is drawn where the caller says, in pixels; within
   a panel in the units of its axes. Only needs stdio, and math for the logarithmic axis. */

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
    const char *colour;
    double width;
    const char *dash; /* SVG's stroke-dasharray, e.g. "4 3"; NULL: solid */
} plot_pen;

#define PLOT_INK "#333333"
#define PLOT_GRID "#e3e3e3"

/* ------------------------------------------------------------------------------ the page */

static inline FILE *plot_open(const char *path, double width, double height, const char *about)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        return NULL;
    }
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
            "viewBox=\"0 0 %g %g\" role=\"img\" font-family=\"Helvetica, Arial, 'Liberation Sans', "
            "'DejaVu Sans', sans-serif\">\n<title>%s</title>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            width, height, width, height, about);
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

/* anchor: "start", "middle" or "end" */
static inline void plot_text(FILE *file, double x, double y, const char *anchor, double size,
                             const char *colour, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%g\" fill=\"%s\">"
            "%s</text>\n", x, y, anchor, size, colour, text);
}

static inline void plot_stroke(FILE *file, plot_pen pen)
{
    fprintf(file, " fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-linejoin=\"round\"",
            pen.colour, pen.width);
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

/* Horizontal grid lines with numbers at the left; on a log axis `step` counts decades. */
static inline void plot_y_axis(const plot_panel *p, double step, const char *format,
                               const char *title)
{
    static const plot_pen grid = { PLOT_GRID, 1, NULL };
    const double x = p->left - 52, y = p->top + p->height / 2;
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
    fprintf(p->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"13\" "
            "fill=\"%s\" transform=\"rotate(-90 %.1f %.1f)\">%s</text>\n",
            x, y, PLOT_INK, x, y, title);
}

/* A second scale at the right edge: `unit` of it lie on 1 of the left one. */
static inline void plot_y_axis_right(const plot_panel *p, double from, double step, double unit,
                                     const char *format, const char *colour, const char *title)
{
    const double x = p->left + p->width + 46, y = p->top + p->height / 2;
    char number[64];
    int i;

    for (i = 0; (from + i * step) / unit <= p->y_high + 1e-9; i++) {
        const double value = from + i * step;
        plot_number(number, sizeof number, format, value, step);
        plot_text(p->file, p->left + p->width + 8, plot_y(p, value / unit) + 4, "start", 12,
                  colour, number);
    }
    fprintf(p->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"13\" "
            "fill=\"%s\" transform=\"rotate(-90 %.1f %.1f)\">%s</text>\n", x, y, colour, x, y,
            title);
}

/* Frame and ticks below; numbers only if there is a title. */
static inline void plot_x_axis(const plot_panel *p, double step, const char *format,
                               const char *title)
{
    static const plot_pen frame = { "#9a9a9a", 1, NULL };
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
        const double slope = (y1 - y0) / (x1 - x0);
        int bends = slope < low || slope > high;
        if (bends) { /* the point before was the last that a line reaches */
            x0 = plot_x(p, x[i - 1]);
            y0 = plot_y(p, y[i - 1]);
            fprintf(p->file, "L%.2f %.2f", x0, y0);
            low = -1e30;
            high = 1e30;
        }
        low = fmax(low, (y1 - 0.12 - y0) / (x1 - x0));
        high = fmin(high, (y1 + 0.12 - y0) / (x1 - x0));
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
