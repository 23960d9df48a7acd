# Data of the examples: training, quantizing, accuracy, sounds, pictures. The Makefile includes this file.

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

# The reference device computes the same bits on every machine, so the file is the same, byte for byte.
digits-quantize: build/nnrt
	@sh tools/need.sh python3 python3-numpy npm
	$(PYTHON) examples/digits/samples.py
	build/nnrt quantize examples/digits/digits.onnx --data build/digits-data/training.npy --int8-io --device reference \
	    -o examples/digits/digits_int8.onnx
	build/nnrt accuracy examples/digits/digits.onnx examples/digits/digits_int8.onnx --data build/digits-data/heldback.npy \
	    --labels build/digits-data/heldback-labels.npy

# The networks and the sounds are in build/vad-data.
VAD_NETWORKS := build/vad-data/silero_vad_v5.onnx
VAD_SOUNDS := build/vad-data/sound.wav

$(VAD_NETWORKS): examples/vad/fetch.sh tools/fetch.sh
	@sh $<
	@touch $@

$(VAD_SOUNDS): examples/vad/make_sound.sh examples/sounds.sh
	@sh tools/need.sh espeak-ng sox
	@sh $< $(@D)

.PHONY: vad
vad: build/vad $(VAD_NETWORKS) $(VAD_SOUNDS)
	@build/vad $(VAD_SOUNDS)

# TARGETS="cortex-m4 cortex-m7": these targets.
.PHONY: vad-firmware
vad-firmware: build/nnrt build/vad-stream $(VAD_NETWORKS)
	@sh tools/need.sh python3 gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm
	@$(PYTHON) examples/vad/qemu.py $(TARGETS)

# The networks and the sounds are in build/wake-data; SOUND=FILE.wav: another sound. `make wake-compare` compares all scores
# with those of ONNX Runtime, which it fetches.
WAKE_NETWORKS := build/wake-data/melspectrogram.onnx
WAKE_SOUNDS := build/wake-data/sound.wav
WAKE_WORDS ?= hey_jarvis_v0.1 alexa_v0.1 weather_v0.1
WAKE_MADE := $(if $(SOUND),,$(WAKE_SOUNDS))

$(WAKE_NETWORKS): examples/wake/fetch.sh tools/fetch.sh
	@sh $<
	@touch $@

$(WAKE_SOUNDS): examples/wake/make_sound.sh examples/sounds.sh
	@sh tools/need.sh espeak-ng sox
	@sh $< $(@D)

.PHONY: wake wake-compare
wake: build/wake $(WAKE_NETWORKS) $(WAKE_MADE)
	@build/wake build/wake-data '$(or $(WAKE_MADE),$(SOUND))' $(WAKE_WORDS)

wake-compare: build/wake $(WAKE_NETWORKS) $(WAKE_SOUNDS)
	@sh tests/compare/run.sh --fetch
	@for sound in sound other; do \
	    build/wake --scores build/wake-data build/wake-data/$$sound.wav $(WAKE_WORDS) | \
	    node tests/tools/wake_compare.mjs build/wake-data build/wake-data/$$sound.wav $(WAKE_WORDS) || exit 1; \
	done

# The network is in build/face-data. PICTURE=FILE.png: another picture.
FACE_NETWORK := build/face-data/face_detection_short_range.tflite

$(FACE_NETWORK): examples/face/fetch.sh tools/fetch.sh
	@sh $<
	@touch $@

.PHONY: face
FACES = $(or $(PICTURE),examples/face/picture.png)
face: build/face $(FACE_NETWORK)
	@build/face $(FACE_NETWORK) '$(FACES)' -o build/face.png
	@echo 'build/face.png is the picture with boxes and keypoints'

# The networks and the dictionary are in build/ocr-data. PICTURE=FILE.png: another picture.
OCR_FILES := build/ocr-data/ppocr_keys_v1.txt

$(OCR_FILES): examples/ocr/fetch.sh tools/fetch.sh
	@sh $<
	@touch $@

.PHONY: ocr
ocr: build/ocr $(OCR_FILES)
	@build/ocr build/ocr-data '$(or $(PICTURE),examples/ocr/picture.png)' -o build/ocr.png
	@echo 'build/ocr.png is the picture with boxes'

# The network with 8 bits: the same faces, each side of a box within one pixel. CONCAT stays float32: its inputs, the boxes of
# a fine and a coarse grid, have scales that differ by seven times.
.PHONY: face-int8
face-int8: build/face build/nnrt $(FACE_NETWORK)
	@sh tools/need.sh python3 python3-numpy
	@$(PYTHON) examples/face/picture.py --samples 32 build/face-data/samples.npy
	@echo CONCAT >build/face-data/keep.txt
	@build/nnrt quantize $(FACE_NETWORK) --data build/face-data/samples.npy --keep build/face-data/keep.txt --least-squares \
	    --device reference -o build/face_int8.nnrt
	@build/face $(FACE_NETWORK) '$(FACES)' >build/face-data/float32.txt
	@build/face build/face_int8.nnrt '$(FACES)' -o build/face.png | tee build/face-data/int8.txt
	@$(PYTHON) tests/tools/face_case.py --distance build/face-data/float32.txt build/face-data/int8.txt

# The language model of examples/text writes. PROMPT="...": the begin of the text; SEED=N: another text.
PROMPT := It is a truth universally acknowledged, that
NOVELS := build/text-data/Rdata.rdb
.PHONY: text text-train text-firmware
text text-firmware: export PROMPT := $(PROMPT)
text:
	@$(MAKE) --no-print-directory $(PARALLEL) build/run/nnrt
	@printf '%s' "$$PROMPT"
	@build/run/nnrt generate examples/text/model.gguf --prompt "$$PROMPT" --tokens 180 --temperature 0.7 --top-p 0.9 --seed '$(SEED)'

$(NOVELS): examples/text/fetch.sh
	@sh $<
	@touch $@

text-train: $(NOVELS)
	@sh tools/need.sh python3 python3-numpy python3-torch libopenblas0-serial
	$(PYTHON) -B examples/text/train.py $(NOVELS)

# TARGETS="cortex-m7 rv32": these targets.
text-firmware: build/nnrt
	@sh tools/need.sh python3 gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm
	@$(PYTHON) -B examples/text/qemu.py --prompt "$$PROMPT" $(TARGETS)

# The models of the tests: the next token is known.
.PHONY: text-models
text-models:
	@sh tools/need.sh python3 python3-numpy python3-onnx
	@mkdir -p build/text-data
	@$(PYTHON) -B tests/tools/text_case.py build/text-data

# The network is in build/background-data.
BACKGROUND_NETWORK := build/background-data/selfie_segmentation.tflite

$(BACKGROUND_NETWORK): examples/background/fetch.sh tools/fetch.sh
	@sh $<
	@touch $@

.PHONY: background
background: build/background $(BACKGROUND_NETWORK)
	@build/background $(BACKGROUND_NETWORK) '$(or $(PICTURE),examples/background/picture.png)' build/background.png
	@echo 'build/background.png is the person without the background'

# Keyword spotting. build/kws-data has the features of the sounds that sounds.py makes. SOUND=FILE.wav: another sound.
KWS := examples/kws
KWS_DATA := build/kws-data/heldback.npy
SOUND ?= $(KWS)/words.wav
.PHONY: kws kws-train kws-quantize kws-accuracy kws-firmware
kws: build/kws
	@build/kws '$(SOUND)'

$(KWS_DATA): $(KWS)/sounds.py $(KWS)/kws.h core/nnrt_frontend.h | build/kws
	@sh tools/need.sh python3 python3-numpy espeak-ng sox
	$(PYTHON) $(KWS)/sounds.py

kws-train: $(KWS_DATA)
	@sh tools/need.sh python3 python3-numpy python3-onnx
	$(PYTHON) $(KWS)/train.py

kws-quantize: build/nnrt $(KWS_DATA)
	build/nnrt quantize $(KWS)/kws.onnx --data build/kws-data/calibration.npy --int8-io --device reference \
	    -o $(KWS)/kws_int8.onnx

kws-accuracy: build/nnrt build/kws $(KWS_DATA)
	@sh tools/need.sh python3 python3-numpy espeak-ng sox
	build/nnrt accuracy $(KWS)/kws.onnx $(KWS)/kws_int8.onnx --data build/kws-data/heldback.npy \
	    --labels build/kws-data/heldback-labels.npy
	$(PYTHON) $(KWS)/stream.py

# TARGETS="cortex-m4 cortex-m0plus": these targets.
kws-firmware: build/nnrt build/kws
	@sh tools/need.sh python3 gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm
	@$(PYTHON) $(KWS)/qemu.py --sound '$(SOUND)' $(TARGETS)
