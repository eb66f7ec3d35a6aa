/* Drive trains of the Modelica Standard Library 4.0 (examples of Mechanics.Rotational and
   Mechanics.Translational) at 1 ms: see scene.h. */
#include "knobs.h"
#include "check.h"
#include "hybrid.h"
#include "scene.h"

/* ---- Rotational.Examples.First: motor, gear 10:1, spring, load ---- */

static double first_torque(double t) { return 10 * sin(2 * PI * 5 * t); }
static void first_force(const moment *x, const int *mode, double *f) {
    double twist = 1e4 * (x->q[0] - x->q[1]);
    (void)mode;
    f[0] = 10 * first_torque(x->t) - 10 * x->v[0] - twist;
    f[1] = twist;
}
static void first_command(double middle) { sim.tau[2] = real(first_torque(middle)); }
static void first(void) {
    scene s = begin(2, 1);
    s.m.mass[0][0] = 2 + 0.1 * 100;
    s.m.mass[1][1] = 2;
    s.m.force = first_force;
    s.map[2][0] = 10;
    s.command = first_command;
    rotor(2);
    rotor(2);
    rotor(0.1);
    body[0].damping = wide(10);
    tie(2, 1, 0, -10);
    spring(0, 1, 1, -1, 1e4, 0);
    run("First", &s);
}

/* ---- Translational.Examples.Oscillator: two of 100 rad/s at resonance, one damped ---- */

static double oscillator_force(double t) { return sin(2 * PI * 15.9155 * t); }
static void oscillator_forces(const moment *x, const int *mode, double *f) {
    (void)mode;
    f[0] = oscillator_force(x->t) - 1e4 * x->q[0];
    f[1] = oscillator_force(x->t) - 1e4 * x->q[1] - 10 * x->v[1];
}
static void oscillator_command(double middle) {
    sim.tau[0] = sim.tau[1] = real(oscillator_force(middle));
}
static void oscillator_closed(moment *x) {
    double w0 = 100, w = 2 * PI * 15.9155, t = x->t;
    x->q[0] = (sin(w * t) - w / w0 * sin(w0 * t)) / (w0 * w0 - w * w);
    x->v[0] = w * (cos(w * t) - cos(w0 * t)) / (w0 * w0 - w * w);
}
static void oscillator(void) {
    scene s = begin(2, 1);
    s.closed = oscillator_closed;
    s.m.mass[0][0] = s.m.mass[1][1] = 1;
    s.m.force = oscillator_forces;
    s.command = oscillator_command;
    rotor(1);
    rotor(1);
    for (int i = 0; i < 2; i++) {
        body[i].joint = MDYN_PRISMATIC;
        body[i].drive_kp = wide(1e4);
    }
    body[1].drive_kd = wide(10);
    run("Oscillator", &s);
}

/* ---- Rotational.Examples.Friction: motor, clutch, spring and damper, brake ---- */

static int before_half(double middle) { return middle < 0.5; }
static double friction_torque(double t, double middle) {
    return before_half(middle) ? 200 * sin(100 * t) : 0;
}
static void friction_force(const moment *x, const int *mode, double *f) {
    double twist = 160 * (x->q[1] - x->q[0]) + (x->v[1] - x->v[0]);
    (void)mode;
    f[0] = twist;
    f[1] = -twist;
    f[2] = friction_torque(x->t, x->middle);
}
static void friction_capacity(const moment *x, capacity *c) {
    double brake = before_half(x->middle) ? 0 : 800;
    capacity of_clutch = { -80, 80, -80, 80 }, of_brake = { -brake, brake, -brake, brake };
    c[0] = of_clutch;
    c[1] = of_brake;
}
static void friction_command(double middle) {
    sim.tau[2] = real(friction_torque(middle, middle));
    bound(1, 80);
    bound(2, before_half(middle) ? 0 : 800);
}
static void friction(void) {
    scene s = begin(3, 3);
    s.m.mass[0][0] = s.m.mass[2][2] = 1;
    s.m.mass[1][1] = 0.05;
    s.m.force = friction_force;
    s.m.capacities = friction_capacity;
    s.m.elements = 2;
    s.m.jacobian[0][1] = -1;
    s.m.jacobian[0][2] = 1;
    s.m.jacobian[1][0] = 1;
    s.v[0] = s.v[1] = 90;
    s.v[2] = 100;
    s.command = friction_command;
    rotor(1);
    rotor(0.05);
    rotor(1);
    spring(1, 1, 0, -1, 160, 1);
    rubbing(2, 1, 1, -1);
    rubbing(0, 1, -1, 0);
    run("Friction", &s);
}

/* ---- Rotational.Examples.CoupledClutches: four shafts, three clutches, peak 1.1 ---- */

static double clutch_normal(int k, double t, double middle) {
    return k == 0 ? (middle < 1.25 ? cos(2 * PI * 0.2 * t) : 0)
                  : middle > (k == 1 ? 0.4 : 0.9) ? 1 : 0;
}
static double clutches_torque(double t) { return 10 * sin(2 * PI * 5 * t); }
static void clutches_force(const moment *x, const int *mode, double *f) {
    (void)mode;
    f[0] = clutches_torque(x->t);
}
static void clutches_capacity(const moment *x, capacity *c) {
    for (int k = 0; k < 3; k++) {
        double slip = 10 * clutch_normal(k, x->t, x->middle), stick = 1.1 * slip;
        capacity of_clutch = { -stick, stick, -slip, slip };
        c[k] = of_clutch;
    }
}
/* Static friction where the last step left C' = 0, to rounding. */
static int sticks(int k) {
    mdyn_row_report report;
    memset(&report, 0, sizeof report);
    CHECK_EQUAL(mdyn_report_row(&sim, MDYN_ROW_COUPLING, k, &report), MDYN_OK);
    return fabs(of_wide(report.velocity)) < 64 * check_epsilon &&
           !(report.flags & (MDYN_ROW_SATURATED | MDYN_ROW_RELEASED));
}
static void clutches_command(double middle) {
    sim.tau[0] = real(clutches_torque(middle));
    for (int k = 0; k < 3; k++) {
        bound(k, (sticks(k) ? 11 : 10) * clutch_normal(k, middle, middle));
    }
}
static void coupled_clutches(void) {
    scene s = begin(4, 1.5);
    s.m.force = clutches_force;
    s.m.capacities = clutches_capacity;
    s.m.elements = 3;
    s.v[0] = 10;
    s.command = clutches_command;
    for (int i = 0; i < 4; i++) {
        s.m.mass[i][i] = 1;
        rotor(1);
    }
    for (int k = 0; k < 3; k++) {
        s.m.jacobian[k][k] = 1;
        s.m.jacobian[k][k + 1] = -1;
        rubbing(k, 1, k + 1, -1);
    }
    run("CoupledClutches", &s);
}

/* ---- Rotational.Examples.OneWayClutch, OneWayClutchDisengaged: C' = v_out - v_in >= 0 ---- */

static int one_way_engaged; /* whether the clutch beside the free wheel is ever engaged */
static double one_way_torque(double t) {
    return one_way_engaged ? 10 * sin(2 * PI * 3 * t) : 0.3 + 10 * sin(2 * PI * 2 * t);
}
static int one_way_on(double middle) {
    return one_way_engaged && middle > 0.3 && fmod(middle - 0.3, 1.3) < 0.65;
}
static void one_way_force(const moment *x, const int *mode, double *f) {
    (void)mode;
    f[0] = one_way_torque(x->t);
    f[1] = one_way_engaged ? 0 : -0.3;
}
static void one_way_capacity(const moment *x, capacity *c) {
    int on = one_way_on(x->middle);
    c->stick_low = on ? -25 * 1.5 : -1e-4 * 1.5;
    c->low = on ? -1.5 : 0;
    c->stick_high = c->high = HUGE_VAL;
}
static void one_way_command(double middle) {
    sim.tau[0] = real(one_way_torque(middle));
    sim.tau[1] = real(one_way_engaged ? 0 : -0.3);
    bound(1, one_way_on(middle) ? (sticks(1) || sticks(0) ? 25 : 1) * 1.5 : 0);
}
static void one_way_clutch(int engaged) {
    scene s = begin(2, 2);
    one_way_engaged = engaged;
    s.m.mass[0][0] = s.m.mass[1][1] = 1;
    s.m.force = one_way_force;
    s.m.capacities = one_way_capacity;
    s.m.elements = 1;
    s.m.jacobian[0][0] = -1;
    s.m.jacobian[0][1] = 1;
    s.v[0] = -0.5;
    s.command = one_way_command;
    rotor(1);
    rotor(1);
    mdyn_coupling *wheel = tie(1, 1, 0, -1);
    wheel->level = MDYN_VELOCITY;
    wheel->upper = MDYN_UNLIMITED;
    rubbing(1, 1, 0, -1);
    run(engaged ? "OneWayClutch" : "OneWayClutchDisengaged", &s);
}

/* ---- Rotational.Examples.LossyGearDemo1 to 3 ---- */

/* phi_1 = ratio phi_2, equal mesh efficiency in both directions. Of the torque that shaft 1 gives
   to the mesh the part `efficiency` arrives if it drives, 1/efficiency if it is driven. */
static struct {
    double j1, j2, ratio, efficiency, dry1, viscous1, dry2;
    double (*torque1)(double t, double middle);
    double (*torque2)(double t, double middle);
} gear;

/* Acceleration of shaft 1 rolling in the direction `sign`. */
static double rolling(const moment *x, int sign) {
    double t1 = gear.torque1(x->t, x->middle) - sign * gear.dry1 - gear.viscous1 * x->v[0];
    double t2 = gear.torque2(x->t, x->middle) - sign * gear.dry2, a = 0;
    for (int drives = 0; drives < 2; drives++) { /* tau sign >= 0: shaft 1 drives */
        double k = gear.ratio * (drives ? gear.efficiency : 1 / gear.efficiency);
        a = (t1 * k + t2) / (gear.j1 * k + gear.j2 / gear.ratio);
        if (((t1 - gear.j1 * a) * sign >= 0) == drives) {
            break;
        }
    }
    return a;
}
static void rolling_gear(const mechanism *m, const moment *x, const int *mode, double *a,
                         double *margin) {
    (void)m;
    *a = *mode ? rolling(x, *mode) : 0;
    *margin = *mode ? *mode * *a : fmin(-rolling(x, 1), rolling(x, -1)) + 1e-12;
}
static double lossy_drive(double t, double middle) { return (void)middle, 10 * sin(2 * PI * t); }
static double lossy_load(double t, double middle) { return (void)middle, -10 + 2.5 * t; }
static double lossy_none(double t, double middle) { return (void)t, (void)middle, 0; }
static double lossy_late(double t, double middle) { return (void)t, middle > 0.5 ? 1 : 0; }
static void lossy_command(double middle) {
    sim.tau[0] = real(gear.torque1(middle, middle));
    sim.tau[1] = real(gear.torque2(middle, middle));
}
static void lossy_gear(const char *name, double end, double v) {
    scene s = begin(1, end);
    s.m.elements = 1;
    s.m.jacobian[0][0] = 1;
    s.m.accelerate = rolling_gear;
    s.map[1][0] = 1 / gear.ratio;
    s.v[0] = v;
    s.command = lossy_command;
    rotor(gear.j1);
    rotor(gear.j2);
    body[0].friction = wide(gear.dry1);
    body[1].friction = wide(gear.dry2);
    body[0].damping = wide(gear.viscous1);
    tie(0, 1, 1, -gear.ratio)->efficiency = wide(gear.efficiency);
    run(name, &s);
}
static void lossy_gears(void) {
    memset(&gear, 0, sizeof gear);
    gear.j1 = 1;
    gear.j2 = 1.5;
    gear.ratio = 2;
    gear.efficiency = 0.5;
    gear.torque1 = lossy_drive;
    gear.torque2 = lossy_load;
    lossy_gear("LossyGearDemo1", 0.5, 0);
    gear.dry1 = gear.viscous1 = 0.5; /* BearingFriction: 0.5 at rest, 1 at 1 rad/s */
    lossy_gear("LossyGearDemo2", 0.5, 0);
    gear.j1 = gear.j2 = 1e-3;
    gear.ratio = 1;
    gear.efficiency = 0.25;
    gear.viscous1 = 0;
    gear.dry2 = 0.5; /* of the loss table: 0.625 = 0.25 0.5 + 0.5, 2.5 = 0.5 / 0.25 + 0.5 */
    gear.torque1 = lossy_none;
    gear.torque2 = lossy_late;
    lossy_gear("LossyGearDemo3", 1, 10);
}

/* ---- Rotational.Examples.Backlash: c 20e3, d 50, inertia 5, play 45 degrees ---- */

static const double PLAY = 0.7853981633974483;
static double contact(const moment *x) { /* phi_contact */
    double q = x->q[0];
    return q > PLAY / 2 ? q - PLAY / 2 : q < -PLAY / 2 ? q + PLAY / 2 : 0;
}
/* The damper adds at most what the spring gives, and both never pull. */
static double elasto_torque(double c, double d, int damper_is_less) {
    return damper_is_less ? -(c + d) : -2 * c;
}
static void spring_damper_force(const moment *x, const int *mode, double *f) {
    (void)mode;
    f[0] = -20e3 * x->q[0] - 50 * x->v[0];
}
static int pushes(const moment *x) { /* the side on which the stop pushes */
    double c = 20e3 * contact(x), sum = c + 50 * x->v[0];
    return c > 0 && sum > 0 ? 1 : c < 0 && sum < 0 ? -1 : 0;
}
static double side_contact(const moment *x, int side) { return x->q[0] - side * PLAY / 2; }
static void backlash2_force(const moment *x, const int *mode, double *f) {
    f[0] = mode[0] ? -20e3 * side_contact(x, mode[0]) - 50 * x->v[0] : 0;
}
static void backlash2_pieces(const moment *x, const int *mode, double *margin) {
    margin[0] = pushes(x) == mode[0] ? 1 : -1;
}
static void backlash_force(const moment *x, const int *mode, double *f) {
    double c = 20e3 * side_contact(x, mode[0]);
    f[0] = mode[0] ? elasto_torque(c, 50 * x->v[0], mode[1] == 0) : 0;
}
static int damper_limited(const moment *x) {
    return fabs(20e3 * contact(x)) < 50 * x->v[0] * (x->q[0] > 0 ? 1 : -1);
}
static void backlash_pieces(const moment *x, const int *mode, double *margin) {
    backlash2_pieces(x, mode, margin);
    margin[1] = mode[1] == (mode[0] ? damper_limited(x) : 0) ? 1 : -1;
}
static scene backlash_scene(void) {
    scene s = begin(1, 1);
    s.m.mass[0][0] = 5;
    s.q[0] = PI / 2;
    rotor(5);
    return s;
}
static void spring_damper_closed(moment *x) {
    double rate = 5, w = sqrt(4000 - rate * rate), decay = PI / 2 * exp(-rate * x->t);
    x->q[0] = decay * (cos(w * x->t) + rate / w * sin(w * x->t));
    x->v[0] = -decay * 4000 / w * sin(w * x->t);
}
static void spring_damper(void) {
    scene s = backlash_scene();
    s.closed = spring_damper_closed;
    s.m.force = spring_damper_force;
    body[0].drive_kp = wide(20e3);
    body[0].drive_kd = wide(50);
    run("Backlash, SpringDamper", &s);
}
/* A law of the user's own: its mean over the step, along the parabola of the torque itself. */
static double backlash_torque(const moment *x) {
    double c = 20e3 * contact(x);
    return pushes(x) ? elasto_torque(c, 50 * x->v[0], !damper_limited(x)) : 0;
}
static void backlash_command(double middle) {
    enum { PARTS = 16 };
    double a = (of_real(sim.v[0]) - velocity_before[0]) / DT, mean = 0;
    (void)middle;
    for (int pass = 0; pass < 2; pass++, a = mean / 5) {
        mean = 0;
        for (int i = 0; i < PARTS; i++) {
            double s = (i + 0.5) / PARTS * DT;
            moment x;
            x.v[0] = of_real(sim.v[0]) + s * a;
            x.q[0] = of_real(sim.q[0]) + s * (of_real(sim.v[0]) + x.v[0]) / 2;
            mean += backlash_torque(&x) / PARTS;
        }
    }
    sim.tau[0] = real(mean);
}
static void elasto_backlash(void) {
    scene s = backlash_scene();
    s.m.force = backlash_force;
    s.m.pieces = backlash_pieces;
    s.m.elements = 2;
    s.command = backlash_command;
    run("Backlash, ElastoBacklash", &s);
}
static void elasto_backlash2(void) {
    scene s = backlash_scene();
    s.m.force = backlash2_force;
    s.m.pieces = backlash2_pieces;
    s.m.elements = 1;
    mdyn_coupling *c = tie(0, 1, -1, 0);
    c->lower = wide(-PLAY / 2);
    c->upper = wide(PLAY / 2);
    c->softness.kind = MDYN_KP_KD;
    c->softness.a = wide(20e3);
    c->softness.b = wide(50);
    run("Backlash, ElastoBackl.2", &s);
}

/* ---- Rotational.Examples.SimpleGearShift: planetary gear, clutch sun-ring, ring brake ---- */

static double shift_ramp(double t, double middle) {
    return middle < 2 ? 0 : middle > 2.1 ? 1 : (t - 2) / 0.1;
}
static double shift_load(double v) { return -20 * (v / 10.471975511966) * (v / 10.471975511966); }
static void shift_force(const moment *x, const int *mode, double *f) {
    (void)mode;
    f[0] = x->middle < 0.5 ? 0 : 20;
    f[1] = shift_load(x->v[1]);
}
static void shift_capacity(const moment *x, capacity *c) {
    for (int k = 0; k < 2; k++) {
        double u = shift_ramp(x->t, x->middle), most = 100 * (k == 0 ? u : 1 - u);
        capacity of_disc = { -most, most, -most, most };
        c[k] = of_disc;
    }
}
static void shift_command(double middle) {
    double u = shift_ramp(middle, middle);
    sim.tau[0] = real(middle < 0.5 ? 0 : 20);
    sim.tau[1] = real(shift_load(middle_velocity(1)));
    bound(1, 100 * u);
    bound(2, 100 * (1 - u));
}
static void simple_gear_shift(void) {
    scene s = begin(2, 5);
    s.m.mass[0][0] = 1;
    s.m.mass[1][1] = 10;
    s.m.force = shift_force;
    s.m.capacities = shift_capacity;
    s.m.elements = 2;
    s.map[2][0] = s.m.jacobian[1][0] = -1 / 1.5; /* of the ring, which has no inertia */
    s.map[2][1] = s.m.jacobian[1][1] = 2.5 / 1.5;
    s.m.jacobian[0][0] = s.map[2][0] - 1;
    s.m.jacobian[0][1] = s.map[2][1];
    s.command = shift_command;
    rotor(1);
    rotor(10);
    rotor(1e-5);
    tie(0, 1, 1, -2.5);
    row[0].terms[2].body = 2;
    row[0].terms[2].coefficient = wide(1.5);
    rubbing(2, 1, 0, -1);
    rubbing(2, 1, -1, 0);
    run("SimpleGearShift", &s);
}

/* ---- Rotational.Examples.ElasticBearing: gear 3:1 in a housing on a spring ---- */

static double bearing_torque(double t) { return 20 * t; }
/* q: shaft, housing, twist of the spring; the gear's output is (shaft + 2 housing)/3. */
static void bearing_force(const moment *x, const int *mode, double *f) {
    (void)mode;
    f[0] = x->middle > 5 ? 100 : bearing_torque(x->t);
    f[1] = -1e5 * x->q[1] - 5 * x->v[1];
    f[2] = -1e3 * x->q[2];
}
static void bearing_command(double middle) {
    sim.tau[0] = real(middle > 5 ? 100 : bearing_torque(middle));
}
/* The gear's flange has no inertia; with `flange` it is a rotor between gear and spring. */
static void elastic_bearing(double flange) {
    static const double load[3] = { 1 / 3.0, 2 / 3.0, -1 };
    scene s = begin(3, 10);
    s.m.mass[0][0] = 1;
    s.m.mass[1][1] = 5;
    for (int i = 0; i < 3; i++) {
        s.map[2][i] = load[i];
        s.map[3][i] = i < 2 ? load[i] : 0;
        for (int j = 0; j < 3; j++) {
            s.m.mass[i][j] += 50 * load[i] * load[j];
        }
    }
    s.m.force = bearing_force;
    s.command = bearing_command;
    rotor(1);
    rotor(5);
    rotor(50);
    body[1].drive_kp = wide(1e5);
    body[1].drive_kd = wide(5);
    if (flange > 0) {
        rotor(flange);
        spring(3, 1, 2, -1, 1e3, 0);
        tie(0, 1, 1, 2);
    } else {
        spring(0, 1, 1, 2, 1e3 / 9, 0);
    }
    mdyn_coupling *gear_row = &row[model.coupling_count - 1];
    gear_row->terms[2].body = flange > 0 ? 3 : 2;
    gear_row->terms[2].coefficient = wide(-3);
    run(flange > 0 ? "ElasticBearing, flange" : "ElasticBearing", &s);
}

/* ---- Translational.Examples.Brake: 1 N on 1 kg at 1 m/s from 0.1 s on ---- */

static void brake_force(const moment *x, const int *mode, double *f) {
    (void)x, (void)mode;
    f[0] = 0;
}
static void brake_capacity(const moment *x, capacity *c) {
    double most = x->middle < 0.1 ? 0 : 1;
    c->stick_low = c->low = -most;
    c->stick_high = c->high = most;
}
static void brake_command(double middle) { bound(0, middle < 0.1 ? 0 : 1); }
static void brake_closed(moment *x) {
    double t = fmin(fmax(x->t - 0.1, 0), 1);
    x->q[0] = fmin(x->t, 0.1) + t - t * t / 2;
    x->v[0] = 1 - t;
}
static void brake(void) {
    scene s = begin(1, 2);
    s.closed = brake_closed;
    s.m.mass[0][0] = 1;
    s.m.force = brake_force;
    s.m.capacities = brake_capacity;
    s.m.elements = 1;
    s.m.jacobian[0][0] = 1;
    s.v[0] = 1;
    s.command = brake_command;
    rotor(1);
    body[0].joint = MDYN_PRISMATIC;
    rubbing(0, 1, -1, 0);
    run("Brake", &s);
}

/* ---- Rotational.Examples.RollingWheel: s = r phi, r = 1 m, air resistance ---- */

static double wheel_drag(double v) { return -10 * (v / 5) * fabs(v / 5); }
static void wheel_force(const moment *x, const int *mode, double *f) {
    (void)mode;
    f[0] = (x->middle < 0.1 ? 0 : 10) + wheel_drag(x->v[0]);
}
static void wheel_command(double middle) {
    sim.tau[0] = real(middle < 0.1 ? 0 : 10);
    sim.tau[1] = real(wheel_drag(middle_velocity(1)));
}
static void wheel_closed(moment *x) {
    double t = fmax(x->t - 0.1, 0);
    x->q[0] = 5 * log(cosh(t));
    x->v[0] = 5 * tanh(t);
}
static void rolling_wheel(void) {
    scene s = begin(1, 5);
    s.closed = wheel_closed;
    s.m.mass[0][0] = 2;
    s.m.force = wheel_force;
    s.map[1][0] = 1;
    s.command = wheel_command;
    rotor(1);
    rotor(1);
    body[1].joint = MDYN_PRISMATIC;
    tie(1, 1, 0, -1);
    run("RollingWheel", &s);
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    heading();
    first();
    oscillator();
    friction();
    coupled_clutches();
    one_way_clutch(1);
    one_way_clutch(0);
    lossy_gears();
    spring_damper();
    elasto_backlash();
    elasto_backlash2();
    simple_gear_shift();
    elastic_bearing(0);
    elastic_bearing(1e-6);
    brake();
    rolling_wheel();
    return check_end();
}
