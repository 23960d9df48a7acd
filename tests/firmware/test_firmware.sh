#!/bin/sh
# test_firmware.sh NNRT: the firmware profile on the testing machine. A .nnrt file is loaded in place, planned and run
# in one buffer, bit-identical to the reference device; invalid input fails; a selection contains exactly its operators;
# only memcpy and memset of the C library are called. `make firmware` does it on microcontrollers.
set -u
nnrt=$1
CC=${CC:-cc}
PYTHON=${PYTHON:-python3}
. "$(dirname "$0")/../kit/verdict.sh"
flags='-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I. -O1'
safe='-fsanitize=address,undefined -fno-sanitize-recover=all'

digits=examples/digits/digits.onnx
integers=examples/digits/digits_int8.onnx
holds 'digits become a .nnrt file' "$nnrt" convert $digits "$folder/digits.nnrt"
keep=$("$nnrt" info "$folder/digits.nnrt" | sed -n 's/^keep *//p')
case $keep in
*NNRT_SELECT*NNRT_KEEP_CONV2D_FUSION=1*NNRT_KEEP_TYPES=0x*) pass ;;
*) fail "nnrt info prints no selection for digits: $keep" ;;
esac

# ---- the same bits, with all operators and with a selection, in floats and in integers ----

# image MODEL DIGIT: its pixels as image.bin, the reference device's scores as want
image() {
    png=examples/digits/digit_$2.png
    "$nnrt" emit-c "$1" -o "$folder/image.h" --name digits --input "$png" >/dev/null
    "$nnrt" run "$1" --device reference --input "$png" --output-dir "$folder" >/dev/null 2>&1
    "$PYTHON" - "$folder" <<'END'
import re, struct, sys
folder = sys.argv[1]
kind, text = re.search(r"(\w+) digits_x0\[784\] = \{(.*?)\}", open(folder + "/image.h").read(), re.S).groups()
code, word, number = {"float": ("f", "I", float), "int8_t": ("b", "B", int)}[kind]
values = [number(v.strip().rstrip("f")) for v in text.split(",") if v.strip()]
open(folder + "/image.bin", "wb").write(struct.pack("=784" + code, *values))
data = open(folder + "/probabilities.npy", "rb").read()
words = struct.unpack("=10" + word, data[-10 * struct.calcsize(word):])
open(folder + "/want", "w").write("".join("%08x\n" % word for word in words))
END
}

# compare NAME MODEL PROGRAM: the program on NAME.nnrt, which was made from MODEL
compare() {
    for digit in 0 3 7 9; do
        image "$2" $digit
        "$3" "$folder/$1.nnrt" "$folder/image.bin" >"$folder/got" 2>&1
        holds "$1: digit $digit has the bits of the reference device, $3" cmp "$folder/got" "$folder/want"
    done
    holds "$1: what must be refused is, $3" "$3" --faults "$folder/$1.nnrt"
}

holds 'digits in integers become a .nnrt file' "$nnrt" convert $integers "$folder/integers.nnrt"
keep8=$("$nnrt" info "$folder/integers.nnrt" | sed -n 's/^keep *//p')
for name in all kept kept8; do
    case $name in # where all is static the compiler leaves away what is not selected; of everything clang makes code faster
    all) with="clang $flags -O0" ;;
    kept) with="clang $flags -O0 $keep -DNNRT_STATIC -DNNRT_MAX_RANK=4" ;;
    kept8) with="$CC $flags $keep8 -DNNRT_STATIC -DNNRT_MAX_RANK=4" ;;
    esac
    # shellcheck disable=SC2086  # flags are several words
    holds "the program compiles, $name" $with $safe -o "$folder/case_$name" tests/firmware/firmware_case.c -lm
    [ $name = kept8 ] || compare digits $digits "$folder/case_$name"
    [ $name = kept ] || compare integers $integers "$folder/case_$name"
done
if "$folder/case_kept" "$folder/integers.nnrt" "$folder/image.bin" >"$folder/got"; then
    fail 'digits in integers run without kernels for quantised types'
else
    holds 'without kernels for quantised types the answer names the first node' grep -q ', node 0,' "$folder/got"
fi
image $digits 9

# ---- a selection ----

# without one operator the model is refused, by number of the node, and not run wrongly
without=$(echo "$keep" | sed 's/-DNNRT_KEEP_SOFTMAX=1//')
# shellcheck disable=SC2086
holds 'the program compiles without SOFTMAX' tcc -std=c99 -I. $without -DNNRT_STATIC -o "$folder/case_less" tests/firmware/firmware_case.c -lm
if "$folder/case_less" "$folder/digits.nnrt" "$folder/image.bin" >"$folder/got"; then
    fail 'the model runs without its SOFTMAX'
else
    holds 'without SOFTMAX the answer is UNSUPPORTED_OP' grep -q '^code 33,' "$folder/got"
fi
# shellcheck disable=SC2086
holds 'the program compiles for float16 alone' tcc -std=c99 -I. $keep -DNNRT_STATIC -UNNRT_KEEP_TYPES -DNNRT_KEEP_TYPES=NNRT_TYPES_F16 \
    -o "$folder/case_half" tests/firmware/firmware_case.c -lm
"$folder/case_half" "$folder/digits.nnrt" "$folder/image.bin" >"$folder/got"
holds 'with kernels for float16 alone the answer names the first node' grep -q ', node 0,' "$folder/got"
# shellcheck disable=SC2086
holds 'as C++17' ${CXX:-g++} -x c++ -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I. $keep \
    -fsyntax-only tests/firmware/firmware_case.c

# ---- called functions ----

cat >"$folder/alone.c" <<'END'
#define NNRT_IMPLEMENTATION
#define NNRT_STATIC
#define NNRT_FIRMWARE
#include "nnrt.h"
int alone(const void *file, size_t bytes, nnrt_memory *memory, void *const *io, nnrt_view *views, void *arena);
int alone(const void *file, size_t bytes, nnrt_memory *memory, void *const *io, nnrt_view *views, void *arena)
{
    NNRT_ModelConfig config;
    NNRT_Model *model;
    nnrt_plan *plan;
    memset(&config, 0, sizeof(config));
    if (nnrt_model_load_into(&model, file, bytes, false, memory, NULL) != NNRT_SUCCESS ||
        nnrt_plan_build(model, &config, memory, &plan) != NNRT_SUCCESS)
        return 1;
    return nnrt_plan_execute(plan, views, arena, io, NULL);
}
END
# shellcheck disable=SC2086
holds 'freestanding' $CC $flags -Os -ffreestanding -fno-pie $keep -c -o "$folder/alone.o" "$folder/alone.c"
nm -u "$folder/alone.o" | sed 's/^ *U *//' >"$folder/calls"
for symbol in malloc free printf fprintf abort exit fopen strlen strcmp memcmp sqrt; do
    if grep -qx "$symbol" "$folder/calls"; then
        fail "the firmware profile calls $symbol"
    else
        pass
    fi
done
strangers=$(grep -vxE 'memcpy|memset|memmove|__.*' "$folder/calls" | tr '\n' ' ')
if [ -z "$strangers" ]; then
    pass
else
    fail "the firmware profile calls $strangers"
fi
nm "$folder/alone.o" >"$folder/symbols"
for gone in nnrt_builder_create nnrt_session_create nnrt_device_register nnrt_model_optimize nnrt_model_save_memory; do
    if grep -q " $gone\$" "$folder/symbols"; then
        fail "$gone is in the firmware profile"
    else
        pass
    fi
done
if [ "$(nm -S --size-sort "$folder/alone.o" | grep -ciE ' [bd] ')" -eq 0 ]; then
    pass
else
    fail 'the firmware profile has variables:'
    nm -S --size-sort "$folder/alone.o" | grep -iE ' [bd] '
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
