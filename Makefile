# mimicdyn.h is one header and needs no build: this file runs its demo, tests and measurements.
# Everything is made under build/. CC=... chooses the compiler.

CLANG    = clang
JOBS    := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
WARNINGS = -Wall -Wextra -pedantic -Wconversion -Wdouble-promotion -Wshadow -Wundef -Wvla -Werror
CFLAGS   = -std=c99 -O2 $(WARNINGS)
SCALARS  = f32 f64 fixed
EXAMPLES = $(sort $(patsubst examples/%.c,%,$(wildcard examples/*.c)))
HARNESSES = fuzz_model fuzz_lcp
HEADERS  = mimicdyn.h $(wildcard examples/*.h examples/robots/*.h tests/*.h tests/bench/*.h)
SCALAR   = -DMIMICDYN_SCALAR=$(1) -DEXPECT_SCALAR_$(1)=1
DEFINE   = $(call SCALAR,$(subst fixed,FIXED,$(subst f32,F32,$(subst f64,F64,$(1)))))

.DELETE_ON_ERROR:
.PHONY: help demo test examples replay bench figures fuzz lint sanitize coverage clean \
        determinism firmware size \
        $(SCALARS:%=fuzz-%)

## Lists what can be made (this).
help:
	@awk '/^## / { text = substr($$0, 4) } \
	    /^[a-z]+:/ && text != "" { sub(/:.*/, ""); printf "  make %-12s%s\n", $$0, text; text = "" }' \
	    Makefile

## Closes a gripper on an object; writes build/demo-f32.svg and so on.
demo: $(SCALARS:%=build/example-demo-%)
	@set -e; for scalar in $(SCALARS); do \
	    echo "== demo, $$scalar"; build/example-demo-$$scalar build/demo-$$scalar.svg; done

## Builds and runs all tests; the last line says how many passed.
test:
	@tests/run.sh build/tests $(JOBS) -DCMAKE_C_COMPILER="$(CC)"

## Builds and runs all examples, each in every scalar; they check themselves.
examples: $(foreach s,$(SCALARS),$(EXAMPLES:%=build/example-%-$(s)))
	@set -e; for name in $(EXAMPLES); do for scalar in $(SCALARS); do \
	    echo "== $$name, $$scalar"; build/example-$$name-$$scalar build/$$name-$$scalar.svg; \
	    done; done

## Builds build/replay-f32, -f64 and -fixed, which play mechanisms from text (tests/replay.c).
replay: $(SCALARS:%=build/replay-%)

## Times the workloads of tests/bench and checks them; fails when a bound is missed.
bench: $(SCALARS:%=build/bench-%) $(SCALARS:%=build/solvers-%)
	@tests/bench/bench.sh build $(CC)

## Writes the tables of the README and its picture anew.
figures: | build
	@tests/figures.sh write all $(CC) build

## Fuzzes each harness for FUZZ_TIME seconds in each scalar: clang's libFuzzer, ASan, UBSan.
fuzz: $(SCALARS:%=fuzz-%)
FUZZ_TIME  = 60
FUZZ_FLAGS = -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=all \
             -fsanitize=fuzzer,address,undefined,float-cast-overflow
$(SCALARS:%=fuzz-%): fuzz-%: build/fuzz_model-% build/fuzz_lcp-%
	@set -e; for harness in $(HARNESSES); do \
	    echo "== $$harness, $*"; mkdir -p build/corpus/$$harness-$*; \
	    build/$$harness-$* -max_total_time=$(FUZZ_TIME) -max_len=2048 -timeout=10 \
	        -print_final_stats=1 -artifact_prefix=build/ build/corpus/$$harness-$* \
	        fuzz/corpus/$$harness; done

## Looks at the shape of the sources: width, length of functions, contents list.
lint:
	@tests/lint.sh

## Runs the test programs, examples and the fuzzing corpus with ASan and UBSan.
# clang's checks of integers are among them; tests/wraps.txt says where unsigned numbers may wrap.
sanitize:
	@if command -v $(CLANG) >/dev/null 2>&1; then \
	    compiler=$(CLANG); \
	    checks=address,undefined,float-cast-overflow,integer; \
	else \
	    compiler=$(CC); checks=address,undefined,float-cast-overflow; \
	fi; \
	echo "sanitizers of $$compiler: $$checks"; \
	tests/run.sh build/sanitize $(JOBS) -DCMAKE_C_COMPILER=$$compiler -DMIMICDYN_SANITIZE=$$checks

## Shows which lines of the header the tests reach (needs clang and llvm-cov).
coverage:
	@tests/coverage.sh $(CLANG) build/coverage

## Steps the same mechanisms on 13 machines, emulated where need be, and compares every bit.
determinism:
	@tests/firmware/determinism.sh build/determinism $(JOBS)

## Runs three examples on microcontrollers, emulated; they check themselves.
firmware:
	@tests/firmware/examples.sh build/firmware $(JOBS)

## Measures flash, RAM, stack and instructions on microcontrollers, emulated; prints tables.
size:
	@tests/firmware/size.sh build/size $(JOBS)

## Removes build/.
clean:
	rm -rf build

build:
	@mkdir -p build

build/example-%: $(HEADERS) $(wildcard examples/*.c) Makefile | build
	$(CC) $(CFLAGS) $(call DEFINE,$(lastword $(subst -, ,$*))) \
	    examples/$(firstword $(subst -, ,$*)).c -lm -o $@
build/replay-%: tests/replay.c $(HEADERS) Makefile | build
	$(CC) $(CFLAGS) $(call DEFINE,$*) -I. $< -lm -o $@
build/bench-%: tests/bench/bench.c $(HEADERS) Makefile | build
	$(CC) $(CFLAGS) $(call DEFINE,$*) -I. $< -lm -o $@
build/solvers-%: tests/bench/solvers.c $(HEADERS) Makefile | build
	$(CC) $(CFLAGS) $(call DEFINE,$*) -I. $< -lm -o $@

define FUZZ_BUILD
	@command -v $(CLANG) >/dev/null 2>&1 || \
	    { echo "fuzzing needs clang and its libFuzzer; there is no $(CLANG) here"; exit 1; }
	$(CLANG) -std=c99 $(FUZZ_FLAGS) $(WARNINGS) $(call DEFINE,$*) -I. $< -lm -o $@ || { echo \
	    "if libclang_rt is what is missing: clang's runtime, Debian's libclang-rt-dev"; exit 1; }
endef
build/fuzz_model-%: fuzz/fuzz_model.c $(HEADERS) Makefile | build
	$(FUZZ_BUILD)
build/fuzz_lcp-%: fuzz/fuzz_lcp.c $(HEADERS) Makefile | build
	$(FUZZ_BUILD)
