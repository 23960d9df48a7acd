# Fuzz targets. The Makefile includes this file.

PLAIN ?=
# tests/fuzz/fuzz_NAME.c: each is a target, found by its name (no list). If afl-clang-fast is installed, the same
# files become build/fuzz/afl_NAME, which make fuzz-afl runs. AFL++ and fuzz_work need the same callback of the compiler.
FUZZ := $(if $(PLAIN),fuzz_gguf fuzz_safetensors fuzz_text fuzz_chat,$(basename $(notdir $(wildcard tests/fuzz/fuzz_*.c))))
FUZZ_WITH_AFL := $(patsubst fuzz_%,build/fuzz/afl_%,$(filter-out fuzz_work,$(FUZZ)))
COMMA := ,
FUZZ_FLAGS = -std=c99 $(WARNINGS) -O1 -g $(FUZZ_CHECKS) -I. -Itests/fuzz -Itests/kit
# PLAIN=1: the targets of language models, in a folder of their own, execute 10 to 30 times as many inputs a second, for what runs with
# the address sanitizer have covered. Undefined behavior traps; comparisons call nothing; only the functions of plain.txt count
# coverage; one in 16 imported models is run.
FUZZ_CHECKS := $(if $(PLAIN),-O2 -DFUZZ_ONE_IN=16 -include $(CURDIR)/tests/kit/asserts.h \
	-fsanitize=undefined$(COMMA)float-cast-overflow -fsanitize-trap=undefined$(COMMA)float-cast-overflow \
	-fno-sanitize-coverage=trace-cmp -fsanitize-coverage-allowlist=tests/fuzz/plain.txt,$(SANITIZE))
# Those that call static functions of the library have a copy of them (tests/kit/inside.h).
FUZZ_INSIDE := $(patsubst tests/fuzz/%.c,%,$(shell grep -l '^\#include "inside.h"' tests/fuzz/fuzz_*.c))
FUZZ_LINKED = $(if $(filter $(FUZZ_INSIDE) $(FUZZ_INSIDE:fuzz_%=afl_%),$(@F)),,$(IMPLEMENTED))
# All targets link one object of the implementation, tests/fuzz/nnrt.c. Targets that run random models link an object with
# the fast device, too; the others compare bits, or run nothing. That object is not optimized, and has no AVX2 kernels: with the
# sanitizers' checks, clang takes more than ten minutes to optimize all kernels.
FUZZ_OBJECT = $(if $(filter %_builder %_onnx,$@),fast,exact)
FUZZ_EXACT = -DNNRT_CPU=$(if $(filter %fast.o %fast.afl.o,$@),1 -DNNRT_CPU_AVX2=0,0)
AFL := $(shell command -v afl-clang-fast 2>/dev/null)
SECONDS ?= 60
# of exact.o: clang optimizes longer than some seconds of each target save
FUZZ_LEVEL ?= $(if $(filter 1 2 3 4 5 6 7 8 9,$(SECONDS)),-O0,-O1)

# M32=1: 32-bit x86 programs, in a folder of their own, with the cross compiler's libraries.
M32 ?=
CROSS32 := /usr/i686-linux-gnu/lib
FUZZ_DIR := build/fuzz$(if $(M32),32)$(if $(PLAIN),-plain)
FUZZ_32 := $(if $(M32),--target=i686-linux-gnu -msse2 -D_FILE_OFFSET_BITS=64 \
	-Wl$(COMMA)--dynamic-linker=$(CROSS32)/ld-linux.so.2 -Wl$(COMMA)-rpath$(COMMA)$(CROSS32) -Wno-shorten-64-to-32)

FUZZ_HEADERS := tests/kit/inside.h $(wildcard tests/fuzz/*.h) $(TOOL) $(HEADERS)
FUZZ_AFL := afl-clang-fast $(FUZZ_FLAGS) -std=gnu99 -Wno-pedantic -Wno-shorten-64-to-32 $(CPPFLAGS)

$(FUZZ_DIR)/exact.o $(FUZZ_DIR)/fast.o: tests/fuzz/nnrt.c $(FUZZ_HEADERS)
	@mkdir -p $(@D)
	@clang $(FUZZ_FLAGS) $(if $(filter %fast.o,$@),-O0,$(FUZZ_LEVEL)) $(FUZZ_EXACT) $(FUZZ_32) -fsanitize=fuzzer-no-link $(CPPFLAGS) -c -o $@ $<

$(FUZZ_DIR)/fuzz_%: tests/fuzz/fuzz_%.c $(FUZZ_DIR)/exact.o $(if $(PLAIN),,$(FUZZ_DIR)/fast.o)
	@clang $(FUZZ_FLAGS) $(FUZZ_LINKED) $(FUZZ_32) -fsanitize=fuzzer $(CPPFLAGS) $(LDFLAGS) -o $@ $< $(FUZZ_DIR)/$(FUZZ_OBJECT).o $(LIBS) -lpthread

$(FUZZ_DIR)/counted.o: tests/kit/nnrt.c $(FUZZ_HEADERS)
	@mkdir -p $(@D)
	@$(COUNTED) $(FUZZ_32) -o $@ $<

$(FUZZ_DIR)/fuzz_work: tests/fuzz/fuzz_work.c $(FUZZ_DIR)/counted.o tests/core/work.h
	@$(COUNTER) -O1 -g -fsanitize=fuzzer $(FUZZ_32) -o $@ $< $(FUZZ_DIR)/counted.o $(LIBS) -lpthread

build/fuzz/exact.afl.o build/fuzz/fast.afl.o: tests/fuzz/nnrt.c $(FUZZ_HEADERS)
	@mkdir -p $(@D)
	@$(FUZZ_AFL) $(FUZZ_EXACT) -c -o $@ $<

build/fuzz/afl_%: tests/fuzz/fuzz_%.c build/fuzz/exact.afl.o build/fuzz/fast.afl.o
	@$(FUZZ_AFL) $(FUZZ_LINKED) $(LDFLAGS) -o $@ $< build/fuzz/$(FUZZ_OBJECT).afl.o $(LIBS) -lpthread

fuzz:
	@sh tools/need.sh clang libclang-rt-dev libstb-dev $(if $(M32),g++-i686-linux-gnu libc6-dev-i386-cross)
	@$(MAKE) --no-print-directory -j$(JOBS) $(FUZZ:%=$(FUZZ_DIR)/%) $(if $(AFL),$(if $(M32)$(PLAIN),,$(FUZZ_WITH_AFL)))
	@sh tests/fuzz/run.sh $(SECONDS) $(FUZZ_DIR)

# ---- AFL++ ----

.PHONY: fuzz-afl

fuzz-afl:
	@sh tools/need.sh afl++ libstb-dev
	@$(MAKE) --no-print-directory -j$(JOBS) $(FUZZ_WITH_AFL)
	@sh tests/fuzz/run.sh $(SECONDS) build/fuzz afl

# ---- sweep: the digits model, changed at every place ----

.PHONY: sweep

build/sweep: tests/fuzz/test_sweep.c tests/kit/nnrt.c tests/fuzz/fuzz.h $(HEADERS)
	@mkdir -p $(@D)
	@$(COMPILE_TEST) -O2 $(LDFLAGS) -o $@ $< tests/kit/nnrt.c $(LIBS)

sweep:
	@sh tools/need.sh libc6-dev libgcc-dev libstb-dev
	@$(MAKE) --no-print-directory build/sweep
	@build/sweep --all --jobs $(JOBS)

# ---- hunt: damaged files through the commands of the command line ----

# SEED=N: the cases of that number, else new ones each time. ONLY_COMMANDS="info,run": these commands.
.PHONY: hunt
ONLY_COMMANDS ?=
hunt:
	@sh tools/need.sh $(TEST_PACKAGES)
	@$(MAKE) --no-print-directory build/test/commands build/test/nnrt
	@$(PYTHON) -B tests/fuzz/hunt.py build/test/commands build/test/nnrt --seconds $(SECONDS) --jobs $(JOBS) $(if $(filter file,$(origin SEED)),,--seed $(SEED)) \
	    $(ONLY_COMMANDS:%=--only %)

# Its short form, and a program with the faults that it must find.
build/test/hunt_standin build/test/hunt_standin_nnrt: tests/fuzz/hunt_standin.c tests/kit/commands.c
	@mkdir -p $(@D)
	@$(COMPILE_PROGRAM) -D_XOPEN_SOURCE=700 $(LDFLAGS) -o $@ \
	    $(if $(filter %_nnrt,$@),-DNNRT_TOOL_MAIN $<,-DCOMMANDS_OF='"$<"' tests/kit/commands.c)

suite-hunt: build/test/commands build/test/nnrt build/test/hunt_standin build/test/hunt_standin_nnrt
	$(SUITE) $(PYTHON) -B tests/fuzz/test_hunt.py $^
