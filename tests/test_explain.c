/* mdyn_explain: what it says of rows, in every size of buffer. */
#include "knobs.h"
#include "check.h"
#include "good_model.h"
#include <limits.h>

static mdyn_sim sim;

static void explain(mdyn_row_kind kind, int index, const char *want) {
    static char got[200];
    memset(got, '#', sizeof got);
    CHECK_EQUAL(mdyn_explain(&sim, kind, index, got, (int)sizeof got), MDYN_OK);
    CHECK_TEXT(got, want);
    int need = (int)strlen(want) + 1;
    for (int size = 0; size <= need; size++) { /* one byte short is too short */
        memset(got, '#', sizeof got);
        int code = mdyn_explain(&sim, kind, index, got, size);
        CHECK_EQUAL(code, size < need ? MDYN_ERR_ROOM : MDYN_OK);
        CHECK(got[size] == '#');
        CHECK(code == MDYN_OK || got[0] == '#'); /* an error writes nothing */
    }
    CHECK_EQUAL(mdyn_explain(&sim, kind, index, got, -1), MDYN_ERR_ROOM);
}

static void test_explain(void) {
    static char text[200];
    good_model();
    coupling[2] = coupling[3] = coupling[4] = coupling[0];
    mdyn_softness spring = MDYN_SPRING(100, 2), soft = MDYN_SOFT(0.3, 1e-6);
    mdyn_softness frequency = MDYN_FREQUENCY(20, 0.7);
    coupling[0].softness = spring;
    coupling[0].effort = wide(4);
    coupling[1].target_velocity = wide(1.5);
    coupling[2].softness = soft;
    coupling[2].name = "toes";
    coupling[3].lower = wide(-0.1);
    coupling[3].upper = wide(0.25);
    coupling[3].offset = wide(-35);
    coupling[3].target_velocity = wide(7); /* which a range of C does not read */
    coupling[3].terms[0].coefficient = wide(-1);
    coupling[4].softness = frequency;
    coupling[4].upper = wide(2);
    coupling[4].lower = wide(-1e12);
    body[LEADER].name = "hip";
    body[LEADER].drive_kp = wide(1234567);
    body[LEADER].drive_kd = wide(0.001);
    body[LEADER].effort = wide(3);
    body[FOLLOWER].lower = wide(-1e-7);
    body[FOLLOWER].upper = wide(1e12);
    body[FOLLOWER].friction = wide(0);
    body[BALL].friction = wide(0.25);
    model.coupling_count = 5;
    CHECK(mdyn_init(&sim, &model) >= 0);
    explain(MDYN_ROW_COUPLING, 0,
            "coupling 0: q(1) - 0.5 q(hip) - 0.125 = 0 [rad]; kp 100, kd 2, |force| <= 4");
    explain(MDYN_ROW_COUPLING, 1,
            "coupling 1: 2 v(2.0) + 3 v(3.4) = 1.5 [rad/s, m/s]; hard, erp 0.2");
    explain(MDYN_ROW_COUPLING, 2,
            "coupling 2 toes: q(1) - 0.5 q(hip) - 0.125 = 0 [rad]; soft, erp 0.3, cfm 1e-6");
    explain(MDYN_ROW_COUPLING, 3,
            "coupling 3: -0.1 <= -q(1) - 0.5 q(hip) - 35 <= 0.25 [rad]; hard, erp 0.2");
    explain(MDYN_ROW_COUPLING, 4,
            "coupling 4: q(1) - 0.5 q(hip) - 0.125 <= 2 [rad]; omega 20 rad/s, zeta 0.7");
    explain(MDYN_ROW_DRIVE, 0, "drive 0: force = 1.23457e6 (target - q(hip)) + "
            "0.001 (target_velocity - v(hip)), |force + tau| <= 3");
    explain(MDYN_ROW_FRICTION, 3, "friction 3: v(2.1) = 0 while |force| <= 0.25");
    explain(MDYN_ROW_LIMIT, 0, "limit 0: -1 <= q(hip) <= 2 [rad]");
    explain(MDYN_ROW_LIMIT, 1, "limit 1: -1e-7 <= q(1) [rad]");
    /* Kinds that are none. */
    static const int kinds[] = { -1, 5, 255, 256, 257, INT_MAX };
    for (int i = 0; i < 6; i++) {
        CHECK_EQUAL(mdyn_explain(&sim, (mdyn_row_kind)kinds[i], 0, text, (int)sizeof text),
                    MDYN_ERR_INDEX);
    }
}

/* A name of no characters is none. */
static void test_empty_names(void) {
    static mdyn_closure ball;
    static char text[700];
    good_model();
    ball.kind = MDYN_CLOSE_POINT;
    ball.a = FOLLOWER;
    ball.b = MDYN_WORLD;
    ball.name = body[LEADER].name = body[FOLLOWER].name = coupling[0].name = "";
    model.closures = &ball;
    model.closure_count = 1;
    CHECK(mdyn_init(&sim, &model) >= 0);
    explain(MDYN_ROW_COUPLING, 0, "coupling 0: q(1) - 0.5 q(0) - 0.125 = 0 [rad]; hard, erp 0.2");
    explain(MDYN_ROW_LIMIT, 0, "limit 0: -1 <= q(0) <= 2 [rad]");
    explain(MDYN_ROW_CLOSURE, 0,
            "closure 0: displacement between 1 and world, along x = 0 [m]; hard, erp 0.2");
    CHECK_EQUAL(mdyn_explain_body(&sim, FOLLOWER, text, (int)sizeof text), MDYN_OK);
    text[26] = 0;
    CHECK_TEXT(text, "body 1: revolute on 0; ori");
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_explain();
    test_empty_names();
    return check_end();
}
