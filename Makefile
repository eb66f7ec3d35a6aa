# mimicdyn.h is one header and needs no build: this file runs its demo, tests and measurements.
# Everything is made under build/. CC=... chooses the compiler.

CLANG    = clang
JOBS    := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
WARNINGS = -Wall -Wextra -pedantic -Wconversion -Wdouble-promotion -Wshadow -Wundef -Wvla -Werror
OPTIMIZE = -O2
CFLAGS   = -std=c99 $(OPTIMIZE) $(WARNINGS)
# The compiler of the examples: clang takes less than half of gcc's time for them. A third of gcc's
# goes into warnings for which clang is asked (sanitize).
EXAMPLE_CC = $(CC)
QUICK   := $(shell . tests/common.sh; quick $(EXAMPLE_CC))
SCALARS  = f32 f64 fixed
EXAMPLES = $(sort $(patsubst examples/%.c,%,$(wildcard examples/*.c)))
HARNESSES = fuzz_model fuzz_lcp fuzz_motion fuzz_restore fuzz_curves fuzz_rotors
HEADERS  = mimicdyn.h $(wildcard examples/*.h examples/robots/*.h tests/*.h tests/bench/*.h)
SCALAR   = -DMIMICDYN_SCALAR=$(1) -DEXPECT_SCALAR_$(1)=1
UPPER    = $(subst fixed,FIXED,$(subst f32,F32,$(subst f64,F64,$(1))))
DEFINE   = $(call SCALAR,$(call UPPER,$(1)))

.DELETE_ON_ERROR:
.PHONY: help demo test examples replay bench figures figures-check fuzz lint measures matrix \
        sanitize soak coverage clean determinism firmware size packages playground \
        playground-test \
        $(SCALARS:%=fuzz-%) $(SCALARS:%=sanitize-%)
RUN      = tests/run.sh

## Lists what can be made (this); how long it takes on two cores, about.
help:
	@awk '/^## / { text = substr($$0, 4) } \
	    /^[a-z-]+:/ && text != "" { \
	        sub(/:.*/, ""); printf "  make %-17s%s\n", $$0, text; text = "" }' \
	    Makefile

## Closes a gripper on an object; writes build/demo-f32.svg and so on. [10 s]
demo: $(SCALARS:%=build/example-demo-%)
	@set -e; for scalar in $(SCALARS); do \
	    echo "== demo, $$scalar"; build/example-demo-$$scalar build/demo-$$scalar.svg; done

## Compiles and runs the tests; the last line says how many passed. [5 min]
test:
	@$(RUN) build/tests $(JOBS) -DCMAKE_C_COMPILER="$(CC)"

## The header in every compiler and standard that is here; symbols, stack, baked sims. [8 min]
matrix:
	@$(RUN) build/matrix $(JOBS) -DCMAKE_C_COMPILER="$(CC)" -DMIMICDYN_PART=matrix

## The tests with other random numbers, and many more inputs for the fuzzing harnesses. [20 min]
soak:
	@$(RUN) build/tests $(JOBS) -DCMAKE_C_COMPILER="$(CC)" -DMIMICDYN_SOAK=ON

## Runs all examples in every scalar; all they draw and print: build/examples.html. [2 min]
ALL_EXAMPLES = $(foreach name,$(EXAMPLES),$(SCALARS:%=example-$(name)-%))
examples: $(ALL_EXAMPLES:%=build/%)
	@tests/examples.sh build . $(ALL_EXAMPLES)

## Builds build/replay-f32, -f64, -fixed, which play mechanisms from text. [10 s]
replay: $(SCALARS:%=build/replay-%)

## Builds build/playground.html: machines in the browser, in one file (clang, lld, python3). [30 s]
playground: build/playground.html

## Opens the page in Chromium, drags, reads its numbers and hashes (chromium-driver too). [20 s]
playground-test: build/playground.html
	@python3 -B tests/playground/test_page.py $<

## Times the workloads of tests/bench and checks them; fails when a bound is missed. [4 min]
# BENCH=bounded for those that have one.
bench: build/bench-f32 build/bench-f64 $(SCALARS:%=build/solvers-%)
	@tests/bench/bench.sh build $(CC) $(BENCH)

## Writes the tables of the pages and the picture anew. [15 min]
figures: | build
	@tests/figures.sh write all $(CC) build

## Compares the tables of the pages and the picture with fresh ones. [15 min]
figures-check:
	@$(RUN) build/figures 1 -DCMAKE_C_COMPILER="$(CC)" -DMIMICDYN_PART=figures

## Fuzzes each harness for FUZZ_TIME seconds in each scalar: clang's libFuzzer, ASan, UBSan.
# FUZZ_RUNS="fuzz_model:500 ..." for so many inputs instead, from the committed corpus and FUZZ_SEED
# alone: the outcome is then that of the text, on any machine; FUZZ_TIME is only a ceiling. What
# libFuzzer learns depends on addresses: they are kept in place (setarch), comparisons left out.
fuzz: $(SCALARS:%=fuzz-%)
FUZZ_TIME  = 60
FUZZ_SEED  = 0
FUZZ_RUNS  =
FUZZ_FLAGS = -g1 -O1 -fno-omit-frame-pointer -fno-sanitize-recover=all \
             -fsanitize=fuzzer,address,undefined,float-cast-overflow
$(SCALARS:%=fuzz-%): fuzz-%: build/fuzz_model-% build/fuzz_lcp-% build/fuzz_motion-% \
        build/fuzz_restore-% build/fuzz_curves-% build/fuzz_rotors-%
	@set -e; for harness in $(HARNESSES); do \
	    found=build/corpus/$$harness-$* runs=-1 still=; \
	    for entry in $(FUZZ_RUNS); do \
	        case $$entry in $$harness:*) runs=$${entry#*:} found=build/corpus/fixed-$* ;; esac; done; \
	    if [ $$runs -lt 0 ]; then repeat=; else rm -rf $$found; repeat=-use_cmp=0; \
	        if setarch -R true 2>/dev/null; then still='setarch -R'; fi; fi; \
	    echo "== $$harness, $*"; mkdir -p $$found; \
	    $$still build/$$harness-$* -runs=$$runs $$repeat -max_total_time=$(FUZZ_TIME) \
	        -seed=$(FUZZ_SEED) -max_len=2048 -timeout=60 -print_final_stats=1 -artifact_prefix=build/ \
	        $$found fuzz/corpus/$$harness; done

## Looks at the sources: width, length of functions, calls between rooms, words. [20 s]
lint:
	@tests/lint.sh

## Prints how the header reads, in numbers: comments, lengths of functions, words, by room. [10 s]
measures:
	@python3 tests/measures.py mimicdyn.h

## Runs the test programs, examples and the fuzzing corpus with ASan and UBSan. [20 min]
# clang's checks of integers are among them; tests/wraps.txt says where unsigned numbers may wrap.
sanitize:
	@if command -v $(CLANG) >/dev/null 2>&1; then \
	    compiler=$(CLANG); \
	    checks=address,undefined,float-cast-overflow,integer; \
	else \
	    compiler=$(CC); checks=address,undefined,float-cast-overflow; \
	fi; \
	echo "sanitizers of $$compiler: $$checks"; \
	$(RUN) build/sanitize $(JOBS) -DCMAKE_C_COMPILER=$$compiler -DMIMICDYN_SANITIZE=$$checks \
	    -DMIMICDYN_SCALARS="$(call UPPER,$(SCALARS))"
$(SCALARS:%=sanitize-%): sanitize-%:
	@$(MAKE) --no-print-directory sanitize SCALARS=$*

## Shows which lines of the header the tests reach (needs clang and llvm-cov). [80 min]
coverage:
	@tests/coverage.sh $(CLANG) build/coverage

## Steps the same mechanisms on 13 machines, emulated where need be, compares every bit. [10 min]
# LEVELS="-O2" for one level of optimization only, BOARDS="m0 m3:FIXED" for two of the machines, one
# of them in one scalar.
LEVELS   = -O0 -O2 -Os
BOARDS   =
determinism:
	@tests/firmware/determinism.sh build/determinism $(JOBS) "$(LEVELS)" "$(BOARDS)"

## Runs four examples on microcontrollers, emulated; they check themselves. [1 min]
# FIRMWARE="m0 m3" for two of the machines.
FIRMWARE =
firmware:
	@tests/firmware/examples.sh build/firmware $(JOBS) "$(FIRMWARE)"

## Measures flash, RAM, stack and instructions on microcontrollers, emulated; prints tables. [5 min]
size:
	@tests/firmware/size.sh build/size $(JOBS)

## Makes a package for each of nine ecosystems in build/packages, and builds each once. [1 min]
packages: | build
	@CC="$(CC)" python3 -B examples/packages/make_packages.py build/packages --check

## Removes build/.
clean:
	rm -rf build

build:
	@mkdir -p build

# They run for a moment, but for these two: -O0 builds them in a third of the time.
build/example-%: OPTIMIZE = -O0
build/example-stack-% build/example-spindle-%: OPTIMIZE = -O1
build/example-stack-% build/example-spindle-%: override EXAMPLE_CC = $(CC)
build/example-%: $(HEADERS) $(wildcard examples/*.c) Makefile | build
	$(EXAMPLE_CC) $(CFLAGS) $(QUICK) $(call DEFINE,$(lastword $(subst -, ,$*))) \
	    examples/$(firstword $(subst -, ,$*)).c -lm -o $@
build/replay-%: tests/replay.c $(HEADERS) Makefile | build
	$(CC) $(CFLAGS) $(call DEFINE,$*) -I. $< -lm -o $@
build/bench-%: tests/bench/bench.c $(HEADERS) Makefile | build
	$(CC) $(CFLAGS) $(call DEFINE,$*) -I. $< -lm -o $@
build/solvers-%: tests/bench/solvers.c $(HEADERS) Makefile | build
	$(CC) $(CFLAGS) $(call DEFINE,$*) -I. $< -lm -o $@

# ---- the page: examples/playground ----

PLAYGROUND = $(wildcard examples/playground/*.c examples/playground/*.h)
PAGE       = $(wildcard $(addprefix examples/playground/*.,html css js py))
HASHED     = $(foreach s,fixed f32,build/playground-$(s).wasm build/playground-$(s).hashes)
WASM_FLAGS = --target=wasm32 -std=c99 -Os $(WARNINGS) -mbulk-memory -ffreestanding -nostdlib \
             -Wl,--no-entry,--strip-all
build/playground-%.wasm: $(PLAYGROUND) $(HEADERS) Makefile | build
	$(CLANG) $(WASM_FLAGS) $(call DEFINE,$*) examples/playground/playground.c -o $@
build/playground-%.hashes: $(PLAYGROUND) $(HEADERS) Makefile | build
	$(CC) $(CFLAGS) $(call DEFINE,$*) examples/playground/native.c -o build/playground-$*
	build/playground-$* >$@
build/playground.html: $(HASHED) $(PAGE) Makefile
	@python3 -B examples/playground/build.py $@ $(HASHED)

# Four harnesses share an implementation (tests/knobs_few.h). That of the others is static: of calls
# that a harness does not make, nothing is compiled.
define FUZZ_BUILD
	@command -v $(CLANG) >/dev/null 2>&1 || \
	    { echo "fuzzing needs clang and its libFuzzer; there is no $(CLANG) here"; exit 1; }
	$(CLANG) -std=c99 $(FUZZ_FLAGS) $(WARNINGS) $(call DEFINE,$*) -I. $(1) -o $@ || { echo \
	    "if libclang_rt is what is missing: clang's runtime, Debian's libclang-rt-dev"; exit 1; }
endef
FUZZ_FEW = $< build/fuzz_few-$*.o -DTEST_SHARES_IMPLEMENTATION=1 -lm
.PRECIOUS: build/fuzz_few-%.o
build/fuzz_few-%.o: tests/implementation.c $(HEADERS) Makefile | build
	$(call FUZZ_BUILD,-c $< -DTEST_FEW=1)
build/fuzz_model-%: fuzz/fuzz_model.c build/fuzz_few-%.o
	$(call FUZZ_BUILD,$(FUZZ_FEW))
build/fuzz_motion-%: fuzz/fuzz_motion.c fuzz/bytes.h fuzz/rigid.h build/fuzz_few-%.o
	$(call FUZZ_BUILD,$(FUZZ_FEW))
build/fuzz_restore-%: fuzz/fuzz_restore.c build/fuzz_few-%.o
	$(call FUZZ_BUILD,$(FUZZ_FEW))
build/fuzz_curves-%: fuzz/fuzz_curves.c fuzz/bytes.h fuzz/rigid.h build/fuzz_few-%.o
	$(call FUZZ_BUILD,$(FUZZ_FEW))
build/fuzz_rotors-%: fuzz/fuzz_rotors.c fuzz/bytes.h $(HEADERS) Makefile | build
	$(call FUZZ_BUILD,$< -DMIMICDYN_STATIC=1 -lm)
build/fuzz_lcp-%: fuzz/fuzz_lcp.c $(HEADERS) Makefile | build
	$(call FUZZ_BUILD,$< -DMIMICDYN_STATIC=1 -lm)

# ---- fuzz_motion without a fuzzer: planted faults, many mechanisms ----

.PHONY: fuzz-selfcheck soak-motion
## Plants 28 faults one by one and counts those that fuzz_motion finds. [10 min]
SELFCHECK_TIME = 60
fuzz-selfcheck: | build
	@fuzz/selfcheck.sh build/selfcheck "$(CC)" $(SELFCHECK_TIME) 24
## 10,000 random mechanisms of 200 steps in each scalar under the oracles of fuzz_motion. [5 min]
SOAK_MECHANISMS = 10000
soak-motion: $(SCALARS:%=build/soak_motion-%)
	@set -e; for scalar in $(SCALARS); do \
	    echo "== soak, $$scalar"; build/soak_motion-$$scalar --random $(SOAK_MECHANISMS) 1; done
build/soak_motion-%: fuzz/fuzz_motion.c fuzz/standalone.c fuzz/bytes.h fuzz/rigid.h \
        $(HEADERS) Makefile | build
	$(CC) $(CFLAGS) -DFUZZ_STEPS=200 $(call DEFINE,$*) -I. fuzz/standalone.c $< -lm -o $@
