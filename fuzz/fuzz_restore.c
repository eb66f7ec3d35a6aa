/* Bytes become a saved sim that was damaged: what mdyn_restore refuses leaves the sim as it was,
   what it takes is a sim whose steps end with a code, finite.

   clang -std=c99 -g -O1 -DMIMICDYN_SCALAR=F32 -DEXPECT_SCALAR_F32=1 -I. \
       -fsanitize=fuzzer,address,undefined,float-cast-overflow -fno-sanitize-recover=all \
       fuzz/fuzz_restore.c -lm -o build/fuzz_restore && build/fuzz_restore fuzz/corpus/fuzz_restore

   Without libFuzzer: fuzz/standalone.c. The first byte says how: RAW, the others are the saved
   bytes; else triples of them (place, place, value) overwrite those of a good sim. With MENDED the
   CRC is made right again, so that what is behind it is reached. */
#ifndef PLATFORMIO /* which would compile it into the firmware */
#include "tests/knobs_few.h"
#include "tests/check.h"

#define REQUIRE(condition) ((condition) ? (void)0 : broken(__LINE__, #condition))

static void broken(int line, const char *condition) {
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, condition);
    abort();
}

enum { RAW = 1, MENDED = 2 };

static const mdyn_body bodies[] = {
    MDYN_BODY(MDYN_WORLD, MDYN_TURNS(0, 1, 0), MDYN_AT(0, 0, 1),
              MDYN_RIGID(1, 0, 0, 0.2, MDYN_INERTIA(0.01, 0.01, 0.01, 0, 0, 0)),
              MDYN_JOINT(0, 0.1, 0.1, -1, 1, 0, 0, 0), "upper"),
    MDYN_BODY(0, MDYN_TURNS(0, 1, 0), MDYN_AT(0, 0, -0.5),
              MDYN_RIGID(1, 0, 0, 0.2, MDYN_INERTIA(0.01, 0.01, 0.01, 0, 0, 0)),
              MDYN_JOINT(0.01, 0, 0, 0, 0, 3, 20, 1), "lower"),
    MDYN_BODY(MDYN_WORLD, MDYN_FLOATS, MDYN_AT(0, 0, 0),
              MDYN_RIGID(1, 0.1, 0, 0, MDYN_INERTIA(0.02, 0.02, 0.02, 0, 0, 0)),
              MDYN_PASSIVE, "stone"),
};
static const mdyn_coupling couplings[] = { MDYN_MIMIC(1, 0, 0.5, 0.0) };
static const mdyn_closure closures[] = {
    { MDYN_CLOSE_POINT, 1, 2, MDYN_V3(0, 0, -0.5), MDYN_V3(0.1, 0, 0), MDYN_V3(0, 0, 0),
      MDYN_V3(0, 0, 0), MDYN_QUATERNION(0, 0, 0, 0), MDYN_C(0), MDYN_SPRING(50, 1), MDYN_C(0),
      NULL },
};
static mdyn_model model = MDYN_MODEL(bodies, 3, couplings, 1, MDYN_V3(0, 0, -9.81), 0.001);

static mdyn_sim good, sim, before;
static unsigned char bytes[MDYN_SAVED_SIZE];

static void steps(mdyn_sim *s, int n) {
    for (int k = 0; k < n; k++) {
        int code = mdyn_step(s);
        REQUIRE(code >= 0 || code <= MDYN_ERR_NULL);
        for (int i = 0; code >= 0 && i < 9; i++) {
            REQUIRE(of_real(s->q[i]) < 8388608 && of_real(s->q[i]) > -8388608);
        }
    }
}

static void mend_crc(void) {
    static uint32_t table[256];
    uint32_t word[6], crc = 0xFFFFFFFFu;
    for (uint32_t k = 0; k < 256 && !table[255]; k++) {
        table[k] = k;
        for (int bit = 0; bit < 8; bit++) {
            table[k] = table[k] >> 1 ^ (table[k] & 1 ? 0xEDB88320u : 0u);
        }
    }
    for (size_t k = 4; k < sizeof bytes; k++) {
        if (k < 20 || k >= 24) {
            crc = crc >> 8 ^ table[(crc ^ bytes[k]) & 255];
        }
    }
    memcpy(word, bytes, sizeof word);
    word[5] = ~crc;
    memcpy(bytes, word, sizeof word);
}

static void damage(const uint8_t *data, size_t size) {
    if (data[0] & RAW) {
        memcpy(bytes, data + 1, size - 1 < sizeof bytes ? size - 1 : sizeof bytes);
        return;
    }
    for (size_t k = 1; k + 2 < size; k += 3) {
        size_t place = ((size_t)data[k] << 8 | data[k + 1]) * (sizeof bytes - 1) / 65535;
        bytes[place] = data[k + 2];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static mdyn_wide numbers[12 * 12];
    static unsigned char saved[MDYN_SAVED_SIZE];
    static int is_saved;
    char text[700];
    if (size == 0) {
        return 0;
    }
    if (!is_saved) {
        model.closures = closures;
        model.closure_count = 1;
        REQUIRE(mdyn_init(&good, &model) >= 0);
        steps(&good, 5);
        REQUIRE(mdyn_save(&good, saved, MDYN_SAVED_SIZE) == MDYN_OK);
        is_saved = 1;
    }
    memcpy(bytes, saved, sizeof bytes);
    damage(data, size);
    if (data[0] & MENDED) {
        mend_crc();
    }

    sim = before = good;
    int32_t length = data[0] & 4 ? (int32_t)(size * 97 % sizeof bytes) : MDYN_SAVED_SIZE;
    int code = mdyn_restore(&sim, &model, bytes, length);
    if (code == MDYN_ERR_MEMORY) {
        REQUIRE(data[0] & MENDED);
        REQUIRE(mdyn_step(&sim) == MDYN_ERR_NOT_READY);
        return 0;
    }
    if (code != MDYN_OK) {
        REQUIRE(memcmp(&sim, &before, sizeof sim) == 0);
        return 0;
    }
    REQUIRE(mdyn_verify(&sim) == MDYN_OK);
    steps(&sim, 3);
    mdyn_mass_matrix(&sim, numbers);
    mdyn_constrained_dynamics(&sim, numbers);
    mdyn_explain_body(&sim, 1, text, (int)sizeof text);
    mdyn_project(&sim, MDYN_MASS_METRIC);
    return 0;
}
#endif
