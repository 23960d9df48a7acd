# nnrt in browsers: the npm package, its tests, the example pages, the site. The Makefile includes this file.

.PHONY: wasm web web-test web-bench
WASM_PACKAGES := clang-19 lld wasi-libc binaryen libstb-dev
WASM := build/web/nnrt
# WebAssembly that all browsers have that have SIMD: Chrome 91, Firefox 89, Safari 16.4, Node.js 16.4
WASM_FEATURES := -msimd128 -mbulk-memory -mnontrapping-fptoint -msign-ext
WASM_CC := clang-19 --target=wasm32-wasi $(WASM_FEATURES) -std=c99 $(WARNINGS) $(WERROR) -Wno-unused-function -ffunction-sections \
	-I. -isystem build/web/include $(WASM_CPPFLAGS)
# The stack, which is at the beginning of the memory: a program that exhausts it stops, and overwrites nothing.
WASM_LD := wasm-ld --no-entry --gc-sections -O2 -z stack-size=262144 --stack-first --strip-all
WASM_OPT := wasm-opt -O2 --enable-simd --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext --enable-mutable-globals

wasm: $(WASM)/package.json
	@ls -l $(WASM)

# only stb: /usr/include as a whole would hide the headers of wasi-libc
build/web/include: bindings/web/web.mk
	@sh tools/need.sh $(WASM_PACKAGES)
	@mkdir -p $@
	@stb=$$(echo '#include <stb/stb_ds.h>' | $(CC) $(CPPFLAGS) -M -x c - | tr ' ' '\n' | sed -n 's|/stb_ds\.h$$||p'); ln -sfn "$$stb" $@/stb
	@touch $@

# The kernels are compiled for speed, all other code for size. nnrt-relaxed.wasm differs only in the kernels: it is for
# engines that have relaxed SIMD (Chrome 114, Firefox 145). emulated.wasm, for tests, has them with a dot product of SIMD128.
WASM_KERNELS = @$(WASM_CC) -O2 -DNNRT_NO_STDIO -DNNRT_AUTO=0 -c -o $@ tools/kernels.c
build/web/nnrt_web.o build/web/text_web.o: build/web/%.o: bindings/web/%.c $(HEADERS) | build/web/include
	@$(WASM_CC) -Oz -c -o $@ $<

build/web/kernels.o: tools/kernels.c $(HEADERS) | build/web/include
	$(WASM_KERNELS)

build/web/relaxed.o: tools/kernels.c $(HEADERS) | build/web/include
	$(WASM_KERNELS) -mrelaxed-simd

build/web/emulated.o: tools/kernels.c tests/bindings/web/emulated_dot.h $(HEADERS) | build/web/include
	$(WASM_KERNELS) -O1 -include tests/bindings/web/emulated_dot.h

$(WASM)/nnrt.wasm $(WASM)/nnrt-text.wasm: build/web/kernels.o bindings/web/web.mk
	@mkdir -p $(@D)
	@$(WASM_LD) -o build/web/linked-$(@F) $(filter %.o,$^) -L/usr/lib/wasm32-wasi -lc
	@$(WASM_OPT) -o $@ build/web/linked-$(@F)

# Debian's binaryen 108 knows relaxed SIMD only by older numbers.
$(WASM)/nnrt-relaxed.wasm $(WASM)/nnrt-text-relaxed.wasm build/web/emulated.wasm: bindings/web/web.mk
	@mkdir -p $(@D)
	@$(WASM_LD) --compress-relocations -o $@ $(filter %.o,$^) -L/usr/lib/wasm32-wasi -lc
	@chmod 644 $@
$(WASM)/nnrt.wasm $(WASM)/nnrt-relaxed.wasm build/web/emulated.wasm: build/web/nnrt_web.o
$(WASM)/nnrt-text.wasm $(WASM)/nnrt-text-relaxed.wasm: build/web/text_web.o
$(WASM)/nnrt-relaxed.wasm $(WASM)/nnrt-text-relaxed.wasm: build/web/relaxed.o
build/web/emulated.wasm: build/web/emulated.o

# The package: inline.js is nnrt.js with nnrt.wasm in it. text.js has modules of its own, with the readers and kernels of language models.
WEB_FILES := $(addprefix bindings/web/,nnrt.js nnrt.d.ts text.js text.d.ts)
$(WASM)/package.json: $(addprefix $(WASM)/nnrt,.wasm -relaxed.wasm -text.wasm -text-relaxed.wasm) $(WEB_FILES) bindings/web/package.json LICENSE docs/web.md
	@cp $(WEB_FILES) LICENSE $(@D)
	@cp bindings/web/nnrt.d.ts $(@D)/inline.d.ts
	@cp docs/web.md $(@D)/README.md
	@{ printf "import {env} from './nnrt.js';\n\nenv.wasm.wasmBinary = Uint8Array.from(atob('"; base64 -w 0 $<; \
	    printf "'), (c) => c.charCodeAt(0));\nexport * from './nnrt.js';\nexport {default} from './nnrt.js';\n"; } >$(@D)/inline.js
	@cp bindings/web/package.json $@

NEEDS_web := $(WASM_PACKAGES) nodejs libonnx-testdata
suite-web: $(WASM)/package.json build/web/emulated.wasm build/test/nnrt
	$(SUITE) node tests/bindings/web/run.mjs $${NNRT_ONNX_TESTDATA:-/usr/share/libonnx-testdata/data} build/test/nnrt

# The example pages, with the package and the networks beside them. PORT: where `make web` serves them.
SITE := build/web/site
PORT ?= 8000
$(SITE)/index.html: $(WASM)/package.json $(wildcard examples/web/*) $(FACE_NETWORK)
	@rm -rf $(SITE) && mkdir -p $(SITE)
	@cp examples/web/*.html examples/web/*.css examples/web/*.js $(SITE)
	@cp examples/digits/digits.onnx examples/face/picture.png $(FACE_NETWORK) $(SITE)
	@cp -R $(WASM) $(SITE)/nnrt

web: $(SITE)/index.html
	@echo 'http://127.0.0.1:$(PORT)/ draws digits, faces.html finds faces, text.html generates text; Ctrl-C ends it'
	@$(PYTHON) -m http.server --bind 127.0.0.1 --directory $(SITE) $(PORT)

# Browsers of Debian, and the package that drives them: the last version for Debian 12's Node.js 18.
PLAYWRIGHT := build/web/modules/node_modules/playwright-core/package.json
$(PLAYWRIGHT): bindings/web/web.mk
	@sh tools/need.sh nodejs npm chromium firefox-esr
	@mkdir -p build/web/modules && touch build/web/modules/index.js
	@npm install --silent --no-audit --no-fund --ignore-scripts --no-save --prefix build/web/modules playwright-core@1.61.0
	@touch $@

web-test: $(SITE)/index.html $(PLAYWRIGHT)
	@timeout 900 node tests/bindings/web/browser.mjs

# The site of README.md, docs and the demo pages: static files, for any server or none. SERVE=1: at PORT.
.PHONY: site site-test
SITE_PACKAGES := python3 python3-markdown-it python3-pygments
site: $(SITE)/index.html build/nnrt
	@sh tools/need.sh $(SITE_PACKAGES)
	@$(PYTHON) -B tools/docs/site.py build/site $(SITE) build/nnrt
	@$(if $(SERVE),echo 'http://127.0.0.1:$(PORT)/; Ctrl-C ends it' && $(PYTHON) -m http.server --bind 127.0.0.1 --directory build/site $(PORT))

site-test: site $(PLAYWRIGHT)
	@sh tools/need.sh tidy
	@$(PYTHON) -B tools/docs/site.py build/site-again $(SITE) build/nnrt
	@$(PYTHON) -B tests/tools/test_site.py build/site build/site-again build/nnrt
	@timeout 900 node tests/bindings/web/site.mjs

# NETS="lenet resnet50": some of tests/bench/models.py; TURNS=15.
ORT_WEB := build/web/modules/node_modules/onnxruntime-web/package.json
WEB_NETS := lenet dscnn_kws resnet8_cifar mobilenet_v1_025_vww fc_autoencoder lstm128_t100 mobilenet_v2 resnet18 transformer_4x256_s128 resnet50 \
	dscnn_kws_qdq resnet8_cifar_qdq mobilenet_v1_025_vww_qdq mobilenet_v2_qdq
$(ORT_WEB): $(PLAYWRIGHT)
	@npm install --silent --no-audit --no-fund --ignore-scripts --no-save --prefix build/web/modules playwright-core@1.61.0 onnxruntime-web@1.30.0
	@touch $@

web-bench: $(SITE)/index.html $(ORT_WEB) build/nnrt
	@sh tools/need.sh python3 python3-numpy python3-onnx
	@$(PYTHON) -B tests/bench/models.py build/web/models $(or $(NETS),$(WEB_NETS)) >/dev/null
	@build/nnrt emit-wasm examples/digits/digits_int8.onnx -o $(SITE)/digits.wasm >/dev/null
	@node tests/bindings/web/bench.mjs examples/digits/digits.onnx $(patsubst %,build/web/models/%.onnx,$(or $(NETS),$(WEB_NETS)))
