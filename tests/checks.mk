# Checks beside `make test`: firmware, coverage, mutation testing, threads, valgrind, static analysis, other machines. The
# Makefile includes this file.

# ---- firmware ----

.PHONY: firmware
FIRMWARE_PACKAGES := gcc-arm-none-eabi libnewlib-arm-none-eabi gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf \
	qemu-system-arm qemu-system-misc python3

# TARGETS="cortex-m4 cortex-m4-load": some of them.
firmware: build/nnrt
	@sh tools/need.sh $(FIRMWARE_PACKAGES)
	@$(PYTHON) examples/firmware/firmware.py $(TARGETS)

# Every operator alone on a Cortex-M4: bytes, and what it calls of double arithmetic, 64-bit division and the C library.
# Kernels for microcontrollers (devices/nnrt_mcu.h) in qemu, beside the figures that they should reach, and with the bits of
# the reference device. TARGETS="cortex-m4 ..": some targets. NNRT_MCU_RANDOM=200 random layers against the reference
# kernels, NNRT_MCU_GRAPHS=100 random networks.
.PHONY: mcu-layers mlperf-tiny
build/mcu_layers: tests/firmware/mcu_layers.c tests/firmware/mcu_graphs.h $(HEADERS) | stb
	$(COMPILE) -DNNRT_CPU=0 $(LDFLAGS) -o $@ $< $(LIBS)

build/mcu_vectors: tests/firmware/mcu_vectors.c tests/firmware/mcu_vectors.h tests/kit/vec.h tests/kit/vec_model.h build/implementation.o
	$(COMPILE) -Itests/kit $(IMPLEMENTED) $(LDFLAGS) -o $@ $< build/implementation.o $(LIBS) -lpthread

mcu-layers: build/nnrt build/mcu_layers build/mcu_vectors
	@sh tools/need.sh $(FIRMWARE_PACKAGES)
	@$(PYTHON) tests/firmware/mcu.py layers $(or $(TARGETS),cortex-m4 cortex-m55 cortex-m0plus rv32)
	@$(PYTHON) tests/firmware/mcu.py random $${NNRT_MCU_RANDOM:-20} $(or $(TARGETS),cortex-m4 cortex-m55)
	@$(PYTHON) tests/firmware/mcu.py graphs $${NNRT_MCU_GRAPHS:-20} $(or $(TARGETS),cortex-m4 cortex-m55)
	@$(PYTHON) tests/firmware/mcu.py vectors $(or $(TARGETS),cortex-m4 cortex-m55)
	@$(PYTHON) tests/firmware/mcu.py layers $(TARGETS) --float
	@$(PYTHON) tests/firmware/mcu.py random $${NNRT_MCU_RANDOM:-20} $(TARGETS) --float

BOARDS := cortex-m0plus cortex-m4 cortex-m7 cortex-m55 rv32
mlperf-tiny: build/nnrt
	@sh tools/need.sh $(FIRMWARE_PACKAGES) python3-numpy python3-onnx
	@$(PYTHON) tests/bench/models.py build/mcu/networks $(foreach n,resnet8_cifar dscnn_kws mobilenet_v1_025_vww fc_autoencoder,$(n) $(n)_qdq)
	@$(PYTHON) tests/firmware/mcu.py networks build/mcu/networks $(or $(TARGETS),$(BOARDS)) --io
	@$(PYTHON) tests/firmware/mcu.py networks build/mcu/networks $(or $(TARGETS),$(BOARDS)) --float
	@$(PYTHON) tests/bench/models.py build/mcu/networks lenet lstm128_t100
	@$(PYTHON) tests/firmware/mcu.py estimates build/mcu/networks

# Bytes of the arena of each network of `make models`: on reference, on cpu, and their ratio.
.PHONY: bench-arena
bench-arena: build/nnrt
	@sh tools/need.sh python3 python3-numpy python3-onnx
	@$(PYTHON) -B tests/compare/make_models.py build/bench/arena
	@$(PYTHON) -B tests/bench/arena.py build/nnrt build/bench/arena

# Packed weights of 4 and 8 bits on the device cpu, beside a plain read of memory and float32 weights. THREADS=1: one thread.
.PHONY: bench-nbits
build/bench_nbits: tests/bench/bench_nbits.c $(HEADERS) | stb
	@mkdir -p $(@D)
	$(COMPILE) -O2 $(LDFLAGS) -o $@ $< $(LIBS) -lpthread

bench-nbits: build/bench_nbits
	@build/bench_nbits $(THREADS)

# A language model of SmolLM2-135M's sizes beside llama.cpp and ONNX Runtime, if the folders MODULES="DIR .." have node-llama-cpp and
# onnxruntime-node: prompts and steps. KIND=Q8_0: of this tensor type. PROMPTS="8 128": of so many tokens. ROUNDS=2.
.PHONY: bench-text
bench-text: build/nnrt
	@sh tools/need.sh python3 python3-numpy python3-onnx
	@$(PYTHON) -B tests/bench/bench_text.py build/nnrt --kind $(or $(KIND),Q4_0) --threads $(or $(THREADS),1) --modules '$(MODULES)' \
		$(if $(PROMPTS),--prompts '$(PROMPTS)') $(if $(ROUNDS),--rounds $(ROUNDS))

# Ratio of signal to quantization noise of ten networks, without each step of nnrt quantize. NETS="lenet dscnn_kws": some.
.PHONY: quantize-table
quantize-table: build/nnrt
	@sh tools/need.sh python3 python3-numpy python3-onnx
	@$(PYTHON) -B tests/formats/quantize_table.py $(NETS)

# The same of MediaPipe's networks, without single steps.
.PHONY: quantize-mediapipe
quantize-mediapipe: build/nnrt
	@sh tools/need.sh python3 python3-numpy python3-onnx npm
	@$(PYTHON) -B tests/formats/quantize_table.py --mediapipe

# The codes of these networks, and of others in NETS, in nnrt and in ONNX Runtime.
.PHONY: quantize-ort
quantize-ort: build/nnrt
	@sh tests/compare/run.sh --fetch
	@$(PYTHON) -B tests/formats/quantize_ort.py $(NETS)

.PHONY: compile-time
# SHORT=1: one compilation, for CI
compile-time: | stb
	@sh tools/need.sh gcc clang binutils python3
	@$(PYTHON) -B tests/source/compile_time.py $(if $(SHORT),short)

.PHONY: firmware-ops
firmware-ops:
	@sh tools/need.sh gcc-arm-none-eabi libnewlib-arm-none-eabi python3
	@$(PYTHON) -B tests/firmware/single.py

suite-single:
	$(SUITE) $(PYTHON) -B tests/firmware/single.py

# ---- coverage ----

# Line and branch coverage of the headers by the suites: built without optimization and sanitizers, so that branches
# correspond to the source; report: build/coverage/index.html; build/coverage/uncovered.txt lists uncovered code.
COVERAGE_CC ?= gcc
COVERAGE_FLOOR ?= 90
# Without suites that test other headers, or reach nothing here that others do not, and take long. SHORT=1 (CI): without the
# readers of formats and the suites that test them.
COVERAGE_SUITES := $(filter-out cpu% mcu% threads cycles remote cli-batch quantize_choice $(if $(SHORT),cli-quantize cli-ops cli-images cli-serve contrib tflite% quantize math auto), \
	$(filter $(CMOCKA:test_%=%) vectors open-vectors onnx-nodes contrib tflite $(CLI),$(SUITES)))
COVERAGE_HEADERS := nnrt_ops.h core/nnrt_model.h core/nnrt_plan.h nnrt_hal.h core/nnrt_graph.h nnrt.h devices/nnrt_auto.h? \
	$(if $(SHORT),,formats/nnrt_onnx.h? formats/nnrt_quantize.h? formats/nnrt_tflite.h?)
COMPILE_COVERAGE = $(COVERAGE_CC) -std=c99 -O0 -g --coverage -fprofile-update=atomic -Dalways_inline=noinline -w $(EXACT) -I. -Itests/kit $(CPPFLAGS)

.PHONY: coverage $(COVERAGE_SUITES:%=coverage-%) suite-coverage-script

$(eval $(call programs,build/coverage/bin,$$(COMPILE_COVERAGE),$$(COMPILE_COVERAGE)))

COVERAGE_SUITE = @sh tests/kit/run_suite.sh build/coverage/results $(@:coverage-%=%)

$(CMOCKA:test_%=coverage-%): coverage-%: build/coverage/bin/test_%
	$(COVERAGE_SUITE) $<

coverage-vectors: build/coverage/bin/test_ops
	$(COVERAGE_SUITE) $< $(sort $(wildcard tests/ops/vectors/*.vec))

coverage-open-vectors: build/coverage/bin/device_vectors
	$(COVERAGE_SUITE) $< --open reference $(sort $(wildcard tests/ops/vectors/*.vec))

coverage-onnx-nodes: build/coverage/bin/onnx_nodes
	$(COVERAGE_SUITE) $<

$(CLI:%=coverage-%): coverage-cli-%: tests/tools/test_cli_%.sh build/coverage/bin/nnrt | build/test/libplain_npu.so build/test/libtable_npu.so
	$(COVERAGE_SUITE) sh $^

coverage-contrib: build/coverage/bin/nnrt
	$(COVERAGE_SUITE) $(PYTHON) -B tests/formats/test_contrib.py $<

coverage-tflite: build/coverage/bin/nnrt
	$(COVERAGE_SUITE) $(PYTHON) -B tests/formats/test_tflite.py $<

build/coverage/bin/test_nnadapter_driver: | build/test/libplain_npu.so build/test/libwrong_npu.so build/test/libseed_npu.so

coverage:
	@sh tools/need.sh gcovr gcc g++ libc6-dev libstb-dev libcmocka-dev libonnx-testdata python3 python3-numpy
	@rm -rf build/coverage/results build/coverage/bin/*.gcda
	@$(MAKE) --no-print-directory -k -O $(PARALLEL) $(COVERAGE_SUITES:%=coverage-%)
	@sh tests/kit/run_suite.sh --summary build/coverage/results $(COVERAGE_SUITES)
	@echo
	@$(PYTHON) tests/kit/coverage.py --floor $(COVERAGE_FLOOR) --reasons tests/kit/coverage_reasons.txt --html build/coverage \
	    --uncovered build/coverage/uncovered.txt build/coverage/bin $(COVERAGE_HEADERS:%='%')

suite-coverage-script:
	$(SUITE) sh tests/kit/test_coverage.sh

# ---- threads, mutants, other eyes ----

.PHONY: tsan mutate valgrind analyze

# The suites that start threads, under the thread sanitizer, with programs and object as in build/test; a data race makes
# the exit status 66, even if the tests pass. One instruction set of the fast device: all share the threading code.
TSAN_TESTS := test_threads test_queue test_cancel test_remote test_session test_draft test_acceptance test_custom \
	test_cycles test_default test_pool

COMPILE_TSAN = -std=c99 $(filter-out -Wconversion,$(WARNINGS)) -Werror -fsanitize=thread $(EXACT) -DNNRT_CPU_AVX512=0 -DNNRT_CPU_AVX2=0 \
	-I. -Itests/kit $(CPPFLAGS)
$(eval $(call programs,build/tsan,gcc $$(COMPILE_TSAN) -Og -g1,clang $$(COMPILE_TSAN) -D__SANITIZE_THREAD__ -O0 -g1))

suite-tsan: $(TSAN_TESTS:%=build/tsan/%)
	$(SUITE) sh -c '$(patsubst %,build/tsan/% &&,$(TSAN_TESTS)) true'

tsan:
	@sh tools/need.sh gcc clang libc6-dev libstb-dev libcmocka-dev
	@$(MAKE) --no-print-directory test ONLY=tsan

# AGAIN=1: only those mutants that survived the last time. OPS=NAMES: mutants in the code of these operators.
SEED ?= 1
HEADER ?=
OPS ?=
AGAIN ?=
ENOUGH ?= 85

mutate:
	@sh tools/need.sh gcc clang libclang-rt-dev libc6-dev libstb-dev libcmocka-dev libonnx-testdata python3
	@$(PYTHON) tests/kit/mutate.py --seed '$(SEED)' --number '$(or $(N),300)' --jobs '$(JOBS)' --header '$(HEADER)' --ops '$(OPS)' --enough $(ENOUGH) $(if $(AGAIN),--again)

# Suites that take less than a few minutes under valgrind.
VALGRIND_TESTS := test_ops test_hal test_session test_builder test_passes test_threads test_file test_hostile

COMPILE_VALGRIND = $(CC) -std=c99 $(EXACT) -I. -Itests/kit $(CPPFLAGS) -DNO_GUARD -O1 -g
$(eval $(call programs,build/valgrind,$$(COMPILE_VALGRIND),$$(COMPILE_VALGRIND) -w -fno-inline))

valgrind:
	@sh tools/need.sh valgrind libc6-dev libstb-dev libcmocka-dev
	@$(MAKE) --no-print-directory -j$(JOBS) $(VALGRIND_TESTS:%=build/valgrind/%) build/valgrind/nnrt
	@sh tests/source/valgrind.sh build/valgrind $(VALGRIND_TESTS)

analyze:
	@sh tools/need.sh gcc clang-tidy cppcheck libc6-dev libstb-dev
	@sh tests/source/analyze.sh build/analyze

# ---- other machines ----

# make portability TARGETS="i686 wasm": some of tests/source/portability.sh's targets; TARGETS=--quick: what CI does.
.PHONY: portability
portability:
	@JOBS=$(JOBS) IMPLEMENTED='$(IMPLEMENTED)' sh tests/source/portability.sh $(TARGETS)
