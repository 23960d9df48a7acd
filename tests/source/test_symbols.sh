#!/bin/sh
# The symbols that an object file with the whole implementation exports: names that begin with nnrt_, nnrti_ or NNRT_,
# nothing else. It keeps no state between calls except the list of devices, which makes it thread-safe. The library never
# ends the program or prints.
# usage: test_symbols.sh OBJECT...      its objects by the compilers, with all warnings as errors; all static is compiled here. With
# NNRT_LONG=1 nnrt.h at -O2 and with a smaller rank, too, for the warnings of gcc's optimization; its compile time and size are
# printed. Ends with "N passed, N failed".
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'

# empty NAME LINES: passes when there are no lines
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

# data OBJECT: the variables in it that can be written to; constants with addresses in them cannot once it is linked
data() {
    objdump -t "$1" | awk 'NF > 3 && ($(NF - 2) == "*COM*" || ($(NF - 2) ~ /^\.t?(data|bss)/ && $(NF - 2) !~ /^\.data\.rel\.ro/)) { print $NF }' |
        grep -v '^\.'
}

# look NAME OBJECT [static]
look() {
    names=$(nm -g --defined-only "$2" | awk '{ print $NF }')
    if [ $# -gt 2 ]; then
        empty "$1: NNRT_STATIC leaves global symbols" "$names"
    else
        empty "$1: no symbol is defined" "$([ -n "$names" ] || echo none)"
        empty "$1: foreign global symbols" "$(echo "$names" | grep -vE "^(nnrt_|nnrti_|NNRT_$api|DW\.ref\.__gxx_personality_v0$)")"
    fi
    # the registries of devices and of operators; `none` of nnrti_onnx_at represents an absent value, and is only read;
    # nnrti_fake_end is the function that a test passes to nnrt_fake_may_die
    empty "$1: data that is written to" "$(data "$2" |
        grep -vE 'nnrti_(devices|device_order|device_total|own_ops|own_order|own_total|registry_state|cpu_devices|mcu_devices|nna_loading)$|nnrti_onnx_at|nnrti_fake_end$|^none\.')"
    empty "$1: calls what a library must not" "$(nm -u "$2" | awk '{ print $NF }' |
        grep -xE 'abort|exit|_exit|_Exit|__assert_fail|v?printf|puts|putchar|perror|raise|stdout|stderr')"
}

api='' # gcc's has that of compat/nnrt_nnadapter.h as well, whose names these are
for object in "$@"; do
    case $object in */implementation.o | */gcc.o) api='|NNAdapter[A-Za-z]*_' ;; *) api='' ;; esac
    look "$object" "$object"
done

cd "$folder" || exit 1
# one set of instructions of the fast device, the objects have them all
printf '#define NNRT_STATIC\n#define NNRT_CPU_AVX512 0\n#define NNRT_CPU_AVX2 0\n#define NNRT_IMPLEMENTATION\n#include "nnrt.h"\n' >static.c
printf '#define NNRT_CPU 0\n#define NNRT_MAX_RANK 4\n#define NNRT_IMPLEMENTATION\n#include "nnrt.h"\n' >reference.c
for build in ${NNRT_LONG:+gcc-reference} gcc-static clang-static; do
    compiler=${build%-*} unit=${build#*-} level=-O0
    [ $unit = static ] || level=-O2
    # shellcheck disable=SC2086
    if ! compile $compiler -std=c99 $warnings $level -fno-pic -I "$root" -c -o "$unit.o" "$unit.c"; then
        empty "$compiler $unit.c does not compile" "$(cat log)"
        continue
    fi
    if [ $unit = static ]; then
        look "$compiler $unit.c" $unit.o static
    else
        look "$compiler $unit.c" $unit.o
        echo "one translation unit at -O2 with gcc, NNRT_MAX_RANK 4, $unit: $took of processor time," \
            "$(size "$unit.o" | awk 'NR == 2 { print $1 }') bytes of code"
    fi
done

# It must be able to fail: one of each kind.
printf 'int nnrt_good(void);\nint bad, nnrt_state = 1;\nvoid abort(void);\nint nnrt_good(void) { if (bad) abort(); return 0; }\n' >bad.c
gcc -std=c99 -O0 -c -o bad.o bad.c
for fault in 'foreign global symbols: bad' 'data that is written to: bad nnrt_state' 'calls what a library must not: abort'; do
    look bad.c bad.o | grep -qx "FAIL bad.c: $fault "
    empty "this script does not see: $fault" "$([ $? -eq 0 ] || echo "$fault")"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
