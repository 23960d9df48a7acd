#!/bin/sh
# What an object file with the whole implementation shows to the linker: names that begin with nnrt_, nnrti_ or NNRT_,
# nothing else. That it keeps no state between calls but the list of devices, which is what lets threads use it. And that
# the library never ends the program or prints. Compile time and size are printed, for people.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'

# empty WHAT LINES: passes when there are no lines
empty() {
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1: $(echo "$2" | head -n 8 | tr '\n' ' ')"
    fi
}

# compile COMMAND... : runs it; `took` holds the processor time it needed, as "0m5.3s"
compile() {
    (
        "$@" >log 2>&1
        echo $? >status
        times >took
    )
    took=$(awk 'NR == 2 { print $1 }' took)
    return "$(cat status)"
}

cd "$folder" || exit 1
printf '#define NNRT_IMPLEMENTATION\n#include "nnrt.h"\n' >nnrt.c
printf '#define NNRT_IMPLEMENTATION\n#include "formats/nnrt_onnx.h"\n' >onnx.c
printf '#define NNRT_STATIC\n#define NNRT_IMPLEMENTATION\n#include "nnrt.h"\n' >static.c
printf '#define NNRT_CPU 0\n#define NNRT_IMPLEMENTATION\n#include "nnrt.h"\n' >reference.c
for build in gcc-nnrt gcc-reference gcc-onnx gcc-static clang-onnx clang-static g++-onnx; do
    compiler=${build%-*} unit=${build#*-}
    case $compiler in *++) options='-x c++ -std=c++17' ;; *) options='-std=c99' ;; esac
    case $build in gcc-nnrt | gcc-reference) level=-O2 ;; *) level=-O0 ;; esac
    # shellcheck disable=SC2086
    if ! compile $compiler $options $warnings $level -fno-pic -I "$root" -c -o "$unit.o" "$unit.c"; then
        empty "$compiler $unit.c does not compile" "$(cat log)"
        continue
    fi
    [ $level = -O2 ] && echo "one translation unit at -O2 with gcc, $unit: $took of processor time," \
        "$(size "$unit.o" | awk 'NR == 2 { print $1 }') bytes of code"
    names=$(nm -g --defined-only "$unit.o" | awk '{ print $NF }')
    if [ "$unit" = static ]; then
        empty "$compiler: NNRT_STATIC leaves global symbols" "$names"
    else
        empty "$compiler $unit.c: no symbol is defined" "$([ -n "$names" ] || echo none)"
        empty "$compiler $unit.c: foreign global symbols" "$(echo "$names" | grep -vE '^(nnrt_|nnrti_|NNRT_)')"
    fi
    # the registries of devices and of operators; `none` of nnrti_onnx_at stands for a value that is not there, and is only read
    empty "$compiler $unit.c: data that is written to" "$(nm "$unit.o" | awk '$2 ~ /^[bBcCdDsS]$/ { print $3 }' |
        grep -vE 'nnrti_(devices|device_order|device_total|own_ops|own_order|own_total|registry_state|cpu_devices)$|nnrti_onnx_at|^none\.')"
    empty "$compiler $unit.c: calls what a library must not" "$(nm -u "$unit.o" | awk '{ print $NF }' |
        grep -xE 'abort|exit|_exit|_Exit|__assert_fail|v?printf|puts|putchar|perror|raise|stdout|stderr')"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
