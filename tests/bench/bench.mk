# Comparisons with other runtimes and with other commits, and measurements of speed. The Makefile includes this file.

compare: build/nnrt
	@sh tests/compare/run.sh

# Random partitions over two devices, model caches and a device in another process, tests/devices/splits.c: of the digits networks
# and every .onnx file in the folders of NNRT_BENCH_MODELS. N partitions each, N / 200 of networks that take 20 ms or more.
.PHONY: splits
build/splits: tests/devices/splits.c tests/kit/remotes.h tests/kit/nnrt.c $(HEADERS) | stb
	@mkdir -p $(@D)
	@$(COMPILE) -Itests/kit $(LDFLAGS) -o $@ tests/devices/splits.c tests/kit/nnrt.c $(LIBS) -lpthread

DIGITS := examples/digits/digits.onnx examples/digits/digits_int8.onnx
SPLITS := $(or $(N),1000)
splits: build/splits
	@build/splits $(SPLITS) $(DIGITS) $(foreach folder,$(NNRT_BENCH_MODELS),$(sort $(wildcard $(folder)/*.onnx)))

# Random graphs, tests/devices/differential.py. Without sanitizers, unlike the suite of that name: 10,000 take minutes, not hours.
.PHONY: differential
GRAPHS := $(or $(N),1000)

build/differential/driver: tests/devices/differential.c tests/kit/nnrt.c $(HEADERS) | stb
	@mkdir -p $(@D)
	@$(COMPILE) -Itests/kit $(LDFLAGS) -o $@ tests/devices/differential.c tests/kit/nnrt.c $(LIBS) -lpthread

# With DEVICE=NAME each node is also compared with the reference device, within the error bounds of tests/devices/differential.c.
differential: build/nnrt build/differential/driver
	@sh tests/compare/run.sh --fetch
	@NNRT_TEST_DEVICE=$(DEVICE) $(PYTHON) -B tests/devices/differential.py --number $(GRAPHS) --seed $(SEED) --jobs $(JOBS) \
	    --ort build/compare --emit 50 --nnrt build/nnrt build/differential/driver

models: build/nnrt
	@sh tests/compare/run.sh --models --no-times

# MediaPipe's networks in nnrt, TensorFlow Lite and numpy in float64. ONLY_MODELS=TEXT: those with this text in their names.
.PHONY: models-mediapipe
models-mediapipe: build/nnrt
	@sh tools/need.sh python3 python3-numpy npm
	@$(PYTHON) -B tests/compare/mediapipe.py --nnrt $< --only '$(ONLY_MODELS)'

# Trained networks of npm packages in nnrt and in ONNX Runtime or TensorFlow Lite. SMALL=1: the eight of the three smallest packages;
# ONLY_MODELS as above; PAGE=docs/trained.md: writes that page.
.PHONY: models-trained
models-trained: build/nnrt
	@sh tools/need.sh python3 python3-numpy python3-onnx npm time
	@$(PYTHON) -B tests/compare/trained.py --nnrt $< --only '$(ONLY_MODELS)' $(if $(SMALL),--small) $(if $(PAGE),--write '$(PAGE)')

# ONNX's node tests with a symbol in the place of every dimension. ONLY_MODELS=TEXT: those with this text in their names.
.PHONY: models-open
models-open: build/commands
	@sh tools/need.sh python3 python3-numpy python3-onnx
	@NNRT_ONNX_TESTDATA=$${NNRT_ONNX_TESTDATA:-$$(sh tests/kit/onnx_data.sh)} \
	    $(PYTHON) -B tests/formats/models_open.py --list $(if $(ONLY_MODELS),--only '$(ONLY_MODELS)',--check docs/ONNX.md) $<

.PHONY: convert-check bench-load

# Also the networks of tests/compare, and every .onnx file in the folders of NNRT_BENCH_MODELS.
convert-check: build/nnrt
	@sh tools/need.sh python3 python3-numpy python3-onnx libonnx-testdata
	@rm -rf build/convert/networks
	@$(PYTHON) tests/compare/make_networks.py build/convert/networks >/dev/null
	@$(PYTHON) tests/formats/test_convert.py $< build/convert/networks $(NNRT_BENCH_MODELS)

# PARTS="bits firmware": some of the comparisons of tests/bench/compare_commits.py. NNRT_BENCH_MODELS as above.
.PHONY: compare-commits
BASE ?= HEAD~1
compare-commits:
	@sh tools/need.sh git libc6-dev libstb-dev python3 python3-numpy python3-onnx libonnx-testdata
	@$(PYTHON) -B tests/bench/compare_commits.py '$(BASE)' --parts '$(or $(PARTS),bits speed firmware)'

build/bench_load: tests/bench/bench_load.c $(HEADERS) | stb
	@mkdir -p $(@D)
	@$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS)

bench-load: build/bench_load
	@sh tools/need.sh python3 python3-numpy
	@$(PYTHON) -B tests/formats/tflite/model.py build/bench_load.tflite large
	@build/bench_load build/bench_load.nnrt build/bench_load.tflite

# Two threads beside one, also beside busy processes. THREADS=4; SECONDS=10 for each row; FILES="a.onnx b.onnx": these networks instead
# of a step of a language model.
.PHONY: bench-threads
build/bench_threads: tests/bench/bench_threads.c $(HEADERS) | stb
	@mkdir -p $(@D)
	@$(COMPILE) $(LDFLAGS) -o $@ $< $(LIBS) -lpthread

bench-threads: build/bench_threads
	@build/bench_threads $(or $(THREADS),2) $(if $(filter file,$(origin SECONDS)),4,$(SECONDS)) $(FILES)

# Speed, tests/bench. Networks, layers and all other files are generated on demand, in build/bench.
.PHONY: bench
build/bench/nnrt.o: tests/bench/nnrt.c $(HEADERS) | stb
	@mkdir -p $(@D)
	@$(COMPILE) -c -o $@ $<

build/bench/bench: tests/bench/bench.c build/bench/nnrt.o $(wildcard tests/bench/*.h) | stb
	@$(COMPILE) $(LDFLAGS) -o $@ $< build/bench/nnrt.o $(LIBS) -ldl -lpthread

# SECONDS has another default here than in the benchmark.
BENCH_SECONDS = $(if $(filter file,$(origin SECONDS)),,--seconds '$(SECONDS)')
bench:
	@sh tools/need.sh libc6-dev libstb-dev python3 python3-numpy python3-onnx
	@$(MAKE) --no-print-directory build/bench/bench
	@$(PYTHON) -B tests/bench/bench.py $(if $(NETS),--nets '$(NETS)') $(BENCH_SECONDS) $(if $(THREADS),--threads '$(THREADS)') \
	    $(if $(LAYERS),--layers '$(LAYERS)') $(if $(PEERS),--peers '$(PEERS)') $(if $(DEVICES),--devices '$(DEVICES)')

# Single operators, one thread: tests/bench/operators.py. ONLY=NAMES: some operators; ALL=1: also element types that differ only in
# the name from another one; FIGURES=docs/figures.tsv: replaces the figures there.
.PHONY: bench-operators
build/bench/operators: tests/bench/operators.c tests/bench/machine.h tests/bench/ort.h tests/devices/typical.h tests/kit/vec.h \
    tests/kit/vec_model.h build/implementation.o $(TOOL) | stb
	@mkdir -p $(@D)
	@$(COMPILE) $(IMPLEMENTED) -O1 -Itests/kit $(LDFLAGS) -o $@ $< build/implementation.o $(JPEG) $(LIBS) -ldl -lpthread

OPERATORS_ONLY = $(if $(filter file,$(origin ONLY)),,$(ONLY))
bench-operators:
	@sh tools/need.sh libc6-dev libstb-dev python3 python3-numpy python3-onnx
	@$(MAKE) --no-print-directory build/bench/operators
	@$(if $(filter no,$(PEERS)),,sh tests/compare/run.sh --fetch)
	@$(PYTHON) -B tests/bench/operators.py $(if $(filter no,$(PEERS)),--peers no) $(BENCH_SECONDS) $(if $(ALL),--all) \
	    $(if $(FIGURES),--figures '$(FIGURES)') $(OPERATORS_ONLY)

# Estimates for the kernels of AArch64 without such a machine: loops in llvm-mca, instructions of networks in qemu, also of
# XNNPACK. ARM_PEER_NETS="lenet dscnn_kws": only these beside XNNPACK; the large ones take most of the quarter of an hour.
.PHONY: bench-arm
ARM_NETS := dscnn_kws_qdq resnet8_cifar_qdq mobilenet_v1_025_vww_qdq fc_autoencoder_qdq
ARM_HALF_NETS := dscnn_kws resnet8_cifar mobilenet_v1_025_vww
ARM_PEER_NETS := lenet fc_autoencoder $(ARM_HALF_NETS) mobilenet_v2 resnet18 resnet50 $(ARM_NETS) mobilenet_v2_qdq resnet18_qdq
ARM_PATHS = $(1:%=build/arm/networks/%.onnx)
bench-arm: | stb
	@sh tools/need.sh gcc-aarch64-linux-gnu libc6-dev-arm64-cross llvm-19 qemu-user python3 python3-numpy python3-onnx
	@$(PYTHON) tests/bench/models.py build/arm/networks $(sort $(ARM_NETS) $(ARM_HALF_NETS) $(ARM_PEER_NETS))
	@rm -f build/arm/targets; status=0; \
	for part in "loops build/arm" "counts build/arm $(call ARM_PATHS,$(ARM_NETS))" \
	    "halves build/arm $(call ARM_PATHS,$(ARM_HALF_NETS))" "peers build/arm $(call ARM_PATHS,$(ARM_PEER_NETS))" \
	    "targets build/arm"; do $(PYTHON) -B tests/bench/bench_arm.py $$part || status=1; done; exit $$status
