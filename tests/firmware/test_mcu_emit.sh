#!/bin/sh
# test_mcu_emit.sh NNRT PLAIN MCU_LAYERS: plans of the devices mcu:TARGET as C. Layers and random quantized networks are written
# for every target, with specialized and with shared kernels (--small), compile without warnings as C99 and C++17 by gcc and
# clang, have the bits of the reference device, and call only memcpy and memset of the C library. The Arm compilers compile
# them without warnings, too, and the objects link with memcpy, memset and the compiler's arithmetic alone. mcu_memory.py tests
# the sizes of their memory. PLAIN, the command line without sanitizers, writes the targets whose planner is that of another.
# tcc (0.3 s, clang 6) makes the programs that only have to run.
set -u
layers=$3
CC=${CC:-gcc}
CXX=${CXX:-g++}
. tests/kit/verdict.sh
. tests/kit/commands.sh
sanitized=$(commands_of "$1")
plain=$(commands_of "$2")
nnrt=$sanitized
flags='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wdouble-promotion -Werror -I. -O1 -DNNRT_FIRMWARE -DNNRT_STATIC'

# program NAME MODEL...: a program that runs the self-test of each model
program() {
    name=$1
    shift
    {
        printf '#define NNRT_IMPLEMENTATION\n#include "nnrt.h"\n#include "devices/nnrt_mcu.h"\n'
        printf '#include "%s.h"\n' "$@"
        printf 'static uint64_t arena[1 << 15];\nint main(void)\n{\n    int wrong = 0;\n'
        printf '%s\n' "$@" | awk '{
            printf "    wrong |= %s_ARENA_BYTES > sizeof(arena) || %s_selftest(arena) != NNRT_SUCCESS;\n", toupper($0), $0
        }'
        printf '    return wrong;\n}\n'
    } >"$folder/$name.c"
    cp "$folder/$name.c" "$folder/$name.cpp"
}

# headers MODEL...: the file of each
headers() {
    for model in "$@"; do echo "$folder/$model.h"; done
}

# results FILE...: the expected results in the self-tests of these headers
results() {
    sed -nE '/ _?[a-z0-9_]+_y[0-9]+\[[0-9]+\] = /,/};/p' "$@"
}

"$layers" | cut -f1 >"$folder/names"
all='' keep=''
number=0
while read -r name; do
    number=$((number + 1))
    holds "layer $name is built" "$layers" "$name" "$folder/l$number.nnrt"
    all="$all l$number"
done <"$folder/names"
for seed in 1 2 3 4 5 6 7 8; do
    holds "network $seed is built" "$layers" "graph:$seed" "$folder/g$seed.nnrt"
    all="$all g$seed"
done
for model in $all; do
    holds "$model is written for the reference device" asks "$nnrt" emit-c "$folder/$model.nnrt" -o "$folder/$model.h" --name "$model"
    holds "$model has expected results" grep -qE ' _?[a-z0-9_]+_y[0-9]+\[[0-9]+\] = ' "$folder/$model.h"
    ask "$nnrt" info "$folder/$model.nnrt"
    keep="$keep $(sed -n 's/^keep *//p' "$folder/out")"
done
# shellcheck disable=SC2046  # files without spaces
results $(headers $all) >"$folder/want"
# each macro once; NNRT_KEEP_TYPES: all types that some model needs
types=$(echo "$keep" | tr ' ' '\n' | sed -n 's/^-DNNRT_KEEP_TYPES=//p' | tr '\n' '|' | sed 's/|$//')
keep=$(echo "$keep" | tr ' ' '\n' | grep -v KEEP_TYPES | sort -u | tr '\n' ' ')
keep="$keep -DNNRT_KEEP_TYPES=($types)"

# rows NAME CALLS MODEL...: a program that counts the calls of NNRT_ROW; CALLS: pairs MODEL=COUNT of models with one step.
# Within a step `done` grows, and is less than `of`.
rows() {
    name=$1 calls=$2
    shift 2
    {
        printf '#include <stdint.h>\nstatic int32_t row_steps, row_calls, row_last, row_wrong;\n'
        printf '#define NNRT_STEP(plan, step) (row_steps++, row_calls = 0, row_last = -1)\n'
        printf '#define NNRT_ROW(done, of) (row_wrong += (done) <= row_last || (done) >= (of), row_last = (done), row_calls++)\n'
        printf '#define NNRT_IMPLEMENTATION\n#include "nnrt.h"\n#include "devices/nnrt_mcu.h"\n#include <stdio.h>\n'
        printf '#include "%s.h"\n' "$@"
        printf 'static uint64_t arena[1 << 15];\nint main(void)\n{\n'
        for model in "$@"; do
            printf '    row_wrong += %s_selftest(arena) != NNRT_SUCCESS;\n' "$model"
            for pair in $calls; do
                [ "${pair%=*}" = "$model" ] || continue
                printf '    if (%s_plan()->nSteps != 1 || row_calls != %s)\n' "$model" "${pair#*=}"
                printf '        row_wrong += printf("%s: %%d calls, expected %s\\n", (int)row_calls);\n' "$model" "${pair#*=}"
            done
        done
        printf '    return row_wrong != 0 || row_steps == 0;\n}\n'
    } >"$folder/$name.c"
}

# arm NAME TARGET HELPERS MODEL...: a program for an Arm processor, which has no C library: every compiler accepts it without
# warnings, and the object of each C compiler needs memcpy, memset, and functions of the compiler's library that match HELPERS, and links.
arm() {
    name=$1 target=$2 helpers=$3
    shift 3
    program "$name" "$@"
    cpu="-mthumb -mcpu=$target"
    case $target in
    cortex-m4) cpu="$cpu -mfloat-abi=hard -mfpu=fpv4-sp-d16" ;;
    cortex-m7 | cortex-m33) cpu="$cpu -mfloat-abi=hard -mfpu=fpv5-sp-d16" ;;
    cortex-m55) cpu="$cpu -mfloat-abi=hard" ;;
    esac
    for compiler in gcc g++ clang clang++; do
        case "$target$compiler" in # processors with equal kernels: one compiler
        cortex-m3clang* | cortex-m7clang* | cortex-m33clang*) continue ;;
        cortex-m4gcc | cortex-m4clang) ;;
        *clang) [ -n "${NNRT_LONG:-}" ] || continue ;;
        *++) [ "$target$name$compiler" = cortex-m4floatsg++ ] || [ "$target$name$compiler" = cortex-m4integersclang++ ] ||
            [ -n "${NNRT_LONG:-}" ] || continue ;;
        esac
        case $compiler in
        clang*) c="$compiler --target=arm-none-eabi -isystem $libc" ;;
        *) c=arm-none-eabi-$compiler ;;
        esac
        case $compiler in
        *++) c="$c -std=c++17 -fno-exceptions -fno-rtti" source=$name.cpp ;;
        *) c="$c -std=c99" source=$name.c ;;
        esac
        case $compiler in
        *++) # accepts it; the C compilers below make code of it
            # shellcheck disable=SC2086  # flags are several words
            holds "$name for $target, $compiler" $c $cpu $flags -O2 -DNNRT_MAX_RANK=4 -ffreestanding -fsyntax-only "-I$folder" \
                "$folder/$source"
            continue
            ;;
        esac
        # shellcheck disable=SC2086  # flags are several words
        holds "$name for $target compiles by $compiler" $c $cpu $flags -O2 -DNNRT_MAX_RANK=4 -ffreestanding \
            -ffunction-sections -fdata-sections "-I$folder" -c -o "$folder/arm.o" "$folder/$source"
        calls=$(arm-none-eabi-nm -u "$folder/arm.o" | sed 's/^ *U *//' | grep -v -x -E "memcpy|memset|$helpers" | tr '\n' ' ')
        [ -z "$calls" ] && pass || fail "$name for $target by $compiler calls $calls"
        # shellcheck disable=SC2086
        holds "$name for $target links without a C library, $compiler" arm-none-eabi-gcc $cpu -nostdlib -Wl,-e,0 \
            -o "$folder/arm.elf" "$folder/arm.o" "$folder/memory.c" -lgcc
    done
}

# layer NAME: the model of a layer
layer() {
    echo "l$(grep -n -x "$1" "$folder/names" | cut -d: -f1)"
}

reals=''
for name in 'conv 3x3 16x16x16' 'depthwise 5x5 12x12x32' 'full 640 to 128' 'max pool 2x2 16x16x16' 'add 16x16x16'; do
    reals="$reals float_$(layer "$name")"
    holds "$name is built in float32" "$layers" "$name" "$folder/float_$(layer "$name").nnrt" float
done

# Networks compiled for Arm processors: networks of integers, whose float inputs and outputs --int8-io replaces, and float32.
libc=''
if command -v arm-none-eabi-gcc >"$folder/log"; then
    libc=$(printf '#include <string.h>\n' | arm-none-eabi-gcc -E - | sed -n 's|^# 1 "\(.*\)/string\.h".*|\1|p' | head -n 1)
    cat >"$folder/memory.c" <<'END'
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t n)
{
    for (volatile size_t i = 0; i < n; i++)
        ((char *)to)[i] = ((const char *)from)[i];
    return to;
}
void *memset(void *to, int byte, size_t n)
{
    for (volatile size_t i = 0; i < n; i++)
        ((char *)to)[i] = (char)byte;
    return to;
}
END
    integers='digits_int8' floats="digits $reals"
    for model in $all; do
        case $model in
        "$(layer 'quantize 32x32x3')" | "$(layer 'dequantize 32x32x3')") floats="$floats $model" ;;
        *) integers="$integers $model" ;;
        esac
    done
else
    echo 'skipped: the compilers for Arm processors; there is no arm-none-eabi-gcc'
fi

compiled=''
ask "$nnrt" emit-c x --device mcu: -o y
targets=$(sed -n 's/.*; targets: *//p' "$folder/err")
[ -n "$targets" ] || fail 'the message for an unknown target lists none'
for target in $targets; do
    for small in '' --small; do
        case $target$small in # the three kinds of kernels
        cortex-m0plus | cortex-m4 | cortex-m55) nnrt=$sanitized ;;
        *) nnrt=$plain ;;
        esac
        for model in $all; do
            # shellcheck disable=SC2086  # no or one option
            holds "$model is written for $target $small" asks "$nnrt" emit-c "$folder/$model.nnrt" -o "$folder/$model.h" --name "$model" \
                --device "mcu:$target" $small
        done
        # shellcheck disable=SC2046
        results $(headers $all) >"$folder/found"
        holds "the models for $target $small have the results of the reference device" diff "$folder/want" "$folder/found"
        # Targets with equal plans and kernels have the same code: it is compiled for the first of them. (Below, the compilers for
        # Arm compile it for every processor.)
        # shellcheck disable=SC2046
        code=$(sed "s/$target/TARGET/g" $(headers $all) | cksum | tr ' ' '-')
        case " $compiled " in
        *" $code "*)
            echo "$target $small has the code of a target before it"
            first=''
            ;;
        *) compiled="$compiled $code" first=yes ;;
        esac
        # shellcheck disable=SC2086  # several models
        program all $all
        if [ "$target$small" = cortex-m4 ]; then
            # shellcheck disable=SC2086  # flags are several words
            holds "$target compiles by $CC" $CC -std=c99 $flags $keep "-I$folder" -o "$folder/all" "$folder/all.c" -lm
            holds "$target has the expected bits, $CC" "$folder/all"
            for compiler in $CXX clang++; do
                # shellcheck disable=SC2086
                holds "$target, $compiler" $compiler -std=c++17 $flags $keep "-I$folder" -fsyntax-only "$folder/all.cpp"
            done
        fi
        if [ -n "$first" ]; then
            # shellcheck disable=SC2086
            holds "$target $small compiles by tcc" tcc -std=c99 $keep -DNNRT_FIRMWARE -DNNRT_STATIC -I. "-I$folder" \
                -o "$folder/all" "$folder/all.c" -lm
            holds "$target $small has the expected bits" "$folder/all"
        fi
        if [ -n "$first" ] && { [ "$target$small" = cortex-m4 ] || [ -n "${NNRT_LONG:-}" ]; }; then
            # shellcheck disable=SC2086
            holds "$target $small compiles freestanding" clang -std=c99 $flags $keep -ffreestanding -fno-pie -c "-I$folder" \
                -o "$folder/all.o" "$folder/all.c"
            calls=$(nm -u "$folder/all.o" | sed 's/^ *U *//' | grep -v -x -e memcpy -e memset | tr '\n' ' ')
            [ -z "$calls" ] && pass || fail "$target $small calls $calls"
            holds "$target $small links" clang -no-pie -o "$folder/all" "$folder/all.o" -lm
            holds "$target $small has the expected bits, clang" "$folder/all"
        fi
        case "${NNRT_LONG:+long}$libc$target$small" in # Cortex-M3, M7 and M33 have the kernels of others
        long/*cortex-m3 | long/*cortex-m7 | long/*cortex-m33 | */*cortex-m0plus | */*cortex-m4 | */*cortex-m55)
            holds "digits_int8 is written for $target" asks "$nnrt" emit-c examples/digits/digits_int8.onnx --int8-io --device \
                "mcu:$target" -o "$folder/digits_int8.h" --name digits_int8
            holds "digits is written for $target" asks "$nnrt" emit-c examples/digits/digits.onnx --device "mcu:$target" -o \
                "$folder/digits.h" --name digits
            for model in $floats; do
                [ ! -f "$folder/$model.nnrt" ] || holds "$model is written for $target" asks "$nnrt" emit-c "$folder/$model.nnrt" \
                    --device "mcu:$target" -o "$folder/$model.h" --name "$model"
            done
            # shellcheck disable=SC2086  # several models
            arm integers "$target" '__aeabi_(u?idiv(mod)?|lmul|llsl|llsr|lasr|u?ldivmod|mem(cpy|set|clr)[48]?)' $integers
            # shellcheck disable=SC2086
            arm floats "$target" '__aeabi_[a-z0-9]+' $floats
            ;;
        esac
        case "${NNRT_LONG:+long}$target$small" in # NNRT_LONG=1: each with specialized and with shared kernels
        *cortex-m0plus | *cortex-m4--small | *cortex-m55 | longcortex-m0plus* | longcortex-m4 | longcortex-m55*)
            # rows of y; channels of a fully connected layer in panels of 4 (8 with MVE)
            panels=$([ "$target" = cortex-m55 ] && echo 16 || echo 32)
            counts="$(layer 'conv 3x3 16x16x16')=16 $(layer 'conv 10x4/2 49x10x1')=25 $(layer 'conv 1x1 25x5x64')=25"
            counts="$counts $(layer 'depthwise 5x5 12x12x32')=12 $(layer 'max pool 2x2 16x16x16')=8"
            more=''
            if [ "$target" = cortex-m4 ]; then # with kernels for float32: panels of 8 channels, no calls in sums
                more=$reals
                for model in $reals; do
                    holds "$model is written for $target" asks "$nnrt" emit-c "$folder/$model.nnrt" --device "mcu:$target" -o \
                        "$folder/$model.h" --name "$model"
                done
                counts="$counts float_$(layer 'conv 3x3 16x16x16')=16 float_$(layer 'depthwise 5x5 12x12x32')=12"
                counts="$counts float_$(layer 'full 640 to 128')=16 float_$(layer 'max pool 2x2 16x16x16')=8"
            fi
            # shellcheck disable=SC2086
            rows rows "$counts $(layer 'full 640 to 128')=$panels $(layer 'add 16x16x16')=4" $all $more
            # shellcheck disable=SC2086
            holds "$target $small compiles with NNRT_ROW" tcc -std=c99 $keep -DNNRT_FIRMWARE -DNNRT_STATIC -I. "-I$folder" \
                -o "$folder/rows" "$folder/rows.c" -lm
            holds "$target $small has NNRT_ROW before each row, and the expected bits" "$folder/rows"
            ;;
        esac
    done
done

# kernels of three kinds (Cortex-M0+, M4 and M55), specialized and shared
[ "$(echo "$compiled" | wc -w)" -ge 6 ] && pass || fail "only $(echo "$compiled" | wc -w) different programs were compiled"

# ---- arenas, regions, inputs and outputs of exact size ----

# shellcheck disable=SC2086  # several targets
CLANG=clang "${PYTHON:-/usr/bin/python3}" -B tests/firmware/mcu_memory.py "$sanitized" "$layers" "$folder" $targets >"$folder/memory.txt"
sed '$d' "$folder/memory.txt"
counts=$(tail -n 1 "$folder/memory.txt")
case $counts in
*' passed, '*' failed')
    passed=$((passed + ${counts%% *}))
    counts=${counts#*passed, }
    failed=$((failed + ${counts%% *}))
    ;;
*) fail "mcu_memory.py ends with '$counts'" ;;
esac
total
