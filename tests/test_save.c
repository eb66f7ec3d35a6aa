/* Copies of a sim, and sims as bytes. A copy, a sim that was moved, and one that was restored go on
   bit for bit: every byte of q, v and the reports is compared for 300 steps of mechanisms with all
   kinds of rows and methods. Bytes that do not fit are refused by the code that says why; of bytes
   with any bit changed none is taken for a sim, and one with a right CRC neither crashes nor
   hangs. */
#include "knobs_few.h"
#include "check.h"
#include "truth.h"

static mdyn_sim sim, other;
static mechanism mech;
static mdyn_closure closure;
static unsigned char bytes[MDYN_SAVED_SIZE + 8], broken[MDYN_SAVED_SIZE + 8];
static unsigned char kept[sizeof(mdyn_sim)];

/* CRC-32 another way: by polynomial division of the message, most significant bit first. */
static uint32_t crc_of(const unsigned char *p, size_t n) {
    uint32_t rest = 0xFFFFFFFFu, reflected = 0;
    for (size_t k = 0; k < n; k++) {
        for (int bit = 0; bit < 8; bit++) {
            uint32_t in = (uint32_t)(p[k] >> bit & 1), out = rest >> 31;
            rest = (rest & 0x7FFFFFFFu) << 1;
            rest ^= (in ^ out) ? 0x04C11DB7u : 0;
        }
    }
    for (int bit = 0; bit < 32; bit++) {
        reflected |= (rest >> bit & 1) << (31 - bit);
    }
    return ~reflected;
}

/* The words 1 to 4 and the memory, without the CRC between them. */
static void mend_crc(unsigned char *saved) {
    static unsigned char all[MDYN_SAVED_SIZE];
    memcpy(all, saved + 4, 16);
    memcpy(all + 16, saved + 24, sizeof(mdyn_sim));
    uint32_t crc = crc_of(all, 16 + sizeof(mdyn_sim));
    memcpy(saved + 20, &crc, sizeof crc);
}

/* ---- mechanisms ---- */

static void make(int n) {
    static const mdyn_method methods[] = { MDYN_PGS, MDYN_TGS, MDYN_DANTZIG };
    mechanism_random(&mech, 6, 14, n % 16);
    int first = -1;
    for (int i = 0; i < 6; i++) {
        mdyn_body *b = &mech.body[i];
        if (t_dofs_of(b->joint) != 1) {
            continue;
        }
        b->lower = wide(-1);
        b->upper = wide(1.5);
        b->friction = wide(n % 2 ? 0.1 : 0);
        b->damping = wide(0.05);
        b->drive_kp = wide(i % 2 ? 10 : 0);
        b->effort = wide(i % 2 ? 5 : 0);
        if (first < 0) {
            first = i;
        } else if (mech.model.coupling_count == 0) {
            mech.coupling[0] = mimic_of(i, first, 0.5, 0.1);
            mech.model.coupling_count = 1;
        }
    }
    memset(&closure, 0, sizeof closure);
    closure.kind = MDYN_CLOSE_DISTANCE;
    closure.a = 5;
    closure.b = MDYN_WORLD;
    closure.distance = wide(1);
    closure.softness.kind = MDYN_KP_KD;
    closure.softness.a = closure.softness.b = wide(5);
    mech.model.closures = &closure;
    mech.model.closure_count = n % 2;
    mech.model.solver.method = methods[n % 3];
    mech.model.solver.substeps = n % 3 == 1 ? 4 : 0;
    mech.model.solver.limits = n % 5 == 4 ? MDYN_ENGAGED : MDYN_SPECULATIVE;
}

static void drive(mdyn_sim *s, int step) {
    mdyn_contact c;
    memset(&c, 0, sizeof c);
    c.a = 2;
    c.b = MDYN_WORLD;
    c.normal.z = real(1);
    c.mu = wide(0.5);
    c.depth = real(0.01 * (step % 3 - 1));
    mdyn_set_contacts(s, &c, step % 4 == 0);
    s->tau[0] = real(sin(0.1 * step));
    mdyn_step(s);
}

static int same_motion(mdyn_sim *a, mdyn_sim *b, int from, int steps) {
    for (int k = from; k < from + steps; k++) {
        drive(a, k);
        drive(b, k);
        if (!CHECK(check_same_sim(a, b))) {
            return 0;
        }
    }
    return 1;
}

static int start(int n, int steps) {
    make(n);
    if (!CHECK(mdyn_init(&sim, &mech.model) >= 0)) {
        return 0;
    }
    for (int k = 0; k < steps; k++) {
        drive(&sim, k);
    }
    return 1;
}

/* A sim with a body that another one is welded to. */
static int start_welded(void) {
    for (int n = 0; n < 30; n++) {
        for (int i = 0; start(n, 2) && i < mech.model.body_count; i++) {
            if (sim.link[i].alone > 0) {
                return 1;
            }
        }
    }
    return 0;
}

/* Numbers that setters have changed are part of a sim. */
static void change(int n) {
    mdyn_body b = mech.body[5];
    b.mass = wide(of_wide(b.mass) * 1.5);
    CHECK(mdyn_set_body(&sim, 5, &b) >= 0);
    if (mech.model.coupling_count) {
        CHECK(mdyn_engage(&sim, 0, n % 2 ? MDYN_RELEASE : MDYN_ENGAGE_HERE) >= 0);
    }
    CHECK_EQUAL(mdyn_set_dt(&sim, wide(0x1p-9)), MDYN_OK);
}

/* ---- copies ---- */

static void test_copies(void) {
    for (int n = 0; n < 30; n++) {
        if (!start(n, n)) {
            continue;
        }
        change(n);
        other = sim;
        if (!same_motion(&sim, &other, n, 150)) {
            continue;
        }
        memcpy(kept, &other, sizeof other); /* moved: nothing is left where it was */
        memset(&other, 0x5A, sizeof other);
        memcpy(&other, kept, sizeof other);
        same_motion(&sim, &other, n + 150, 150);
        CHECK_EQUAL(mdyn_verify(&other), MDYN_OK);
    }
}

/* ---- bytes ---- */

static void test_restored(void) {
    static mdyn_body moved_body[6];
    static mdyn_coupling moved_coupling[1];
    for (int n = 0; n < 30; n++) {
        if (!start(n, n)) {
            continue;
        }
        change(n);
        CHECK_EQUAL(mdyn_save(&sim, bytes + 3, MDYN_SAVED_SIZE), MDYN_OK);
        memcpy(moved_body, mech.body, sizeof moved_body); /* the tables, elsewhere */
        moved_coupling[0] = mech.coupling[0];
        mdyn_closure moved_closure = closure;
        mdyn_model moved = mech.model;
        moved.bodies = moved_body;
        moved.couplings = moved_coupling;
        moved.closures = &moved_closure;
        for (int i = 0; i < 6; i++) {
            moved_body[i].name = "another name";
        }
        moved_coupling[0].name = "another gear";
        memset(&other, n % 2 ? 0x33 : 0, sizeof other);
        CHECK_EQUAL(mdyn_restore(&other, &moved, bytes + 3, MDYN_SAVED_SIZE), MDYN_OK);
        CHECK_EQUAL(mdyn_verify(&other), MDYN_OK);
        if (mech.model.coupling_count) { /* where the old name stands may be nothing now */
            char text[200] = "";
            CHECK_EQUAL(mdyn_explain(&other, MDYN_ROW_COUPLING, 0, text, sizeof text), MDYN_OK);
            CHECK(strncmp(text, "coupling 0 another gear: q(another name)", 40) == 0);
        }
        same_motion(&sim, &other, n, 300);
        moved_body[0].mass = wide(7);
        CHECK_EQUAL(mdyn_verify(&other), MDYN_ERR_TABLES);
        CHECK_EQUAL(other.culprit.index, 0);
    }
}

static int restore_code(int at, int by, int32_t size) {
    memcpy(broken, bytes, sizeof broken);
    broken[at] = (unsigned char)(broken[at] + by);
    memcpy(kept, &other, sizeof kept);
    int code = mdyn_restore(&other, &mech.model, broken, size);
    CHECK(code == MDYN_OK || memcmp(kept, &other, sizeof kept) == 0);
    return code;
}

static void test_refusals(void) {
    if (!start(3, 10)) {
        return;
    }
    const int32_t size = MDYN_SAVED_SIZE;
    CHECK_EQUAL(crc_of((const unsigned char *)"123456789", 9) == 0xCBF43926u, 1);
    CHECK_EQUAL(mdyn_save(&sim, bytes, size - 1), MDYN_ERR_ROOM);
    CHECK_EQUAL(mdyn_save(&sim, NULL, size), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_save(NULL, bytes, size), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_save(&sim, bytes, size), MDYN_OK);
    memcpy(broken, bytes, sizeof broken);
    mend_crc(broken);
    CHECK(memcmp(broken, bytes, (size_t)size) == 0); /* the CRC is that of IEEE 802.3 */
    memset(&other, 0, sizeof other);
    CHECK_EQUAL(mdyn_save(&other, bytes, size), MDYN_ERR_NOT_READY);
    CHECK_EQUAL(mdyn_restore(&other, &mech.model, NULL, size), MDYN_ERR_NULL);
    CHECK_EQUAL(mdyn_restore(&other, NULL, bytes, size), MDYN_ERR_NULL);
    CHECK_EQUAL(restore_code(0, 1, size), MDYN_ERR_SAVED);
    CHECK_EQUAL(restore_code(0, 0, 23), MDYN_ERR_SAVED);
    CHECK_EQUAL(restore_code(0, 0, size - 1), MDYN_ERR_SAVED);
    CHECK_EQUAL(restore_code(0, 0, size + 1), MDYN_ERR_SAVED);
    CHECK_EQUAL(restore_code(0, 0, -1), MDYN_ERR_SAVED);
    CHECK_EQUAL(restore_code(4, 1, size), MDYN_ERR_SAVED_BUILD);
    CHECK_EQUAL(restore_code(8, 1, size), MDYN_ERR_SAVED_BUILD);
    CHECK_EQUAL(restore_code(12, 1, size), MDYN_ERR_SAVED);
    CHECK_EQUAL(restore_code(16, 1, size), MDYN_ERR_SAVED);
    CHECK_EQUAL(restore_code(20, 1, size), MDYN_ERR_SAVED);
    CHECK_EQUAL(restore_code(24, 1, size), MDYN_ERR_SAVED);
    CHECK_EQUAL(restore_code(size - 1, 1, size), MDYN_ERR_SAVED);
    CHECK_EQUAL(restore_code(0, 0, size), MDYN_OK);

    mech.body[2].mass = wide(4.5); /* other numbers, other counts, no tables */
    CHECK_EQUAL(restore_code(0, 0, size), MDYN_ERR_SAVED_MODEL);
    make(3);
    mech.model.body_count = 5;
    CHECK_EQUAL(restore_code(0, 0, size), MDYN_ERR_SAVED_MODEL);
    mech.model.body_count = -1;
    CHECK_EQUAL(restore_code(0, 0, size), MDYN_ERR_INDEX);
    mech.model.body_count = 6;
    mech.model.bodies = NULL;
    CHECK_EQUAL(restore_code(0, 0, size), MDYN_ERR_NULL);
}

/* One bit of the memory changed: the CRC tells all. With the CRC mended: a code, or a sim. */
static void test_flips(void) {
    static mdyn_wide M[TN * TN];
    int taken = 0, told = 0;
    if (!start(5, 20) || !CHECK_EQUAL(mdyn_save(&sim, bytes, MDYN_SAVED_SIZE), MDYN_OK)) {
        return;
    }
    memset(&other, 0, sizeof other);
    for (int n = 0; n < 60; n++) {
        size_t from = n % 3 ? 0 : offsetof(mdyn_sim, model); /* every third: a constant */
        size_t end = n % 3 ? sizeof sim : offsetof(mdyn_sim, ready_mark);
        size_t at = 24 + from + (size_t)(random_bits() >> 8) % (end - from);
        memcpy(broken, bytes, sizeof broken);
        broken[at] ^= (unsigned char)(1 << random_int(8));
        CHECK_EQUAL(mdyn_restore(&other, &mech.model, broken, MDYN_SAVED_SIZE), MDYN_ERR_SAVED);
        mend_crc(broken);
        int code = mdyn_restore(&other, &mech.model, broken, MDYN_SAVED_SIZE);
        CHECK(code == MDYN_OK || code == MDYN_ERR_MEMORY);
        told += code != MDYN_OK;
        taken += code == MDYN_OK;
        CHECK(code == MDYN_OK || mdyn_step(&other) == MDYN_ERR_NOT_READY);
        for (int k = 0; k < 3 && code == MDYN_OK; k++) {
            drive(&other, k);
            mdyn_mass_matrix(&other, M);
        }
    }
    CHECK(told > 0 && taken > 0);
}

/* Eight bytes of the private memory are overwritten: bits that no operation gives are told, and
   what is taken goes on without an undefined operation. */
static void test_forged(void) {
    static const uint64_t forged[] = { 0x8000000000000000u, 0x800000007FFFFFFFu, 0x7FFFFFFFu, 1u,
                                       0x7FFFFFFF7FFFFFFFu, 0xFFFFFFFFFFFFFFFFu,
                                       0x4000000080000000u, 0x7FFFFFFF00000000u };
    static mdyn_wide M[TN * TN];
    const size_t from = offsetof(mdyn_sim, constants_sum) + 4;
    const int stride = TEST_SOAK ? 16 : 400;
    int told = 0, taken = 0;
    for (int n = 0; n < 30; n++) {
        if (!start(n, 10 + n)) {
            continue;
        }
        if (n % 2) {
            mdyn_mass_matrix(&sim, M);
        }
        for (size_t at = from + (size_t)random_int(stride) * 8; at + 8 <= sizeof sim;
             at += 8 + (size_t)random_int(stride) * 8) {
            other = sim;
            memcpy((char *)&other + at, &forged[random_int(8)], 8);
            if (mdyn_verify(&other) != MDYN_OK) {
                told++;
                continue;
            }
            taken++;
            for (int k = 0; k < 2; k++) {
                drive(&other, k);
                mdyn_mass_matrix(&other, M);
            }
        }
    }
    CHECK(told > 0 && taken > 0);

    /* the last of them is a number */
    for (int k = 0; k < 8; k++) {
        other = sim;
        memcpy(&other.last_dv[1], &forged[k], sizeof other.last_dv[1]);
        CHECK_EQUAL(mdyn_verify(&other), EXPECT_SCALAR == MDYN_SCALAR_FIXED && k < 7
                    ? MDYN_ERR_MEMORY : MDYN_OK);
    }
    if (!CHECK(start_welded())) {
        return;
    }
    for (int k = 0; k < 8; k++) {
        other = sim;
        memcpy(&other.alone[0].mass, &forged[k], sizeof other.alone[0].mass);
        CHECK_EQUAL(mdyn_verify(&other), EXPECT_SCALAR == MDYN_SCALAR_FIXED && k < 7
                    ? MDYN_ERR_MEMORY : MDYN_OK);
    }
}

int main(int argc, char **argv) {
    check_begin(argc, argv);
    test_copies();
    test_restored();
    test_refusals();
    test_flips();
    test_forged();
    return check_end();
}
