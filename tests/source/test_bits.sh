#!/bin/sh
# Bit-identical results from every compiler and optimization level: test_ops prints a hash over all results of all vectors, which
# must be the same for the kernels in each OBJECT, and for kernels compiled here.
# usage: test_bits.sh OBJECT...      objects of the whole implementation by each compiler; NNRT_LONG=1: further levels of
# optimization. Runs from anywhere; ends with "N passed, N failed".
set -u
objects=$(realpath "$@")
cd "$(dirname "$0")/../.." || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0
want=

# compare NAME: the hash of the program is the first one's
compare() {
    got=$("$folder/t" tests/ops/vectors/*.vec | sed -n 's/^bits //p')
    want=${want:-$got}
    if [ -n "$got" ] && [ "$got" = "$want" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1: bits ${got:-none}, expected $want as from the first build"
    fi
}

# build COMMAND...: compiles test_ops with the kernels, and compares its hash
build() {
    rm -f "$folder/t"
    if "$@" -w -I. -Itests/kit tests/ops/test_ops.c -o "$folder/t" -lm >"$folder/log" 2>&1; then
        compare "$*"
    else
        failed=$((failed + 1))
        echo "FAIL $*: does not compile"
        head -n 5 "$folder/log"
    fi
}

# test_ops with the kernels of an object: public functions are inline definitions that the compiler does not use (tests/kit/inside.h)
clang -std=c99 -O0 -w -I. -Itests/kit -include tests/kit/inside.h -c -o "$folder/ops.o" tests/ops/test_ops.c
for object in $objects; do
    rm -f "$folder/t"
    clang++ -no-pie -o "$folder/t" "$folder/ops.o" "$object" -lm -lpthread >"$folder/log" 2>&1
    compare "$object"
done
build gcc -std=gnu11 -O2 -march=native -ffp-contract=fast # which may change bits
if [ -n "${NNRT_LONG:-}" ]; then
    build clang -std=gnu11 -O2 -march=native
    build clang -std=gnu11 -O3 -march=native
    build gcc -std=c99 -Os
    build g++ -x c++ -std=c++17 -O3 -march=native -ffp-contract=fast
    build g++ -x c++ -std=c++17 -O0
fi

# says MACRO FUNCTION COMMAND...: whether the library, compiled so, reports identical bits (tests/source/cross/same_bits.c)
says() {
    answer="$1 $2"
    shift 2
    "$@" -w -I. tests/source/cross/same_bits.c -o "$folder/s" -lm >"$folder/log" 2>&1
    if [ "$("$folder/s")" = "$answer" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $*: nnrt_same_bits says '$("$folder/s")', expected '$answer'"
        head -n 5 "$folder/log"
    fi
    rm -f "$folder/s"
}

# with -O1 gcc leaves away the operators that are not selected, which takes it longest
says 1 1 clang -O0
says 1 1 gcc -O1
for compiler in gcc clang; do
    says 1 1 $compiler -O2 -march=native
    says 0 0 $compiler -O1 -ffast-math
done
says 0 0 gcc -O1 -fno-signed-zeros
case $(gcc -dumpmachine) in
x86_64*) # excess precision; flushing to zero, which the linker brings; one rounding for a * b + c
    says 0 0 gcc -O1 -mfpmath=387
    says 1 0 gcc -O1 "$(gcc -print-file-name=crtfastmath.o)"
    if grep -qw fma /proc/cpuinfo 2>/dev/null; then
        says 1 0 clang -O2 -mfma -ffp-contract=fast
        says 1 1 clang -O2 -mfma -ffp-contract=fast -DNNRT_FP_STRICT
    fi
    ;;
esac

# It must be able to fail: a kernel that is changed gives other bits.
sed 's/sum += nnrti_at_4(x, n, (int32_t)h/sum = nnrti_at_4(x, n, (int32_t)h/' nnrt_ops.h >"$folder/nnrt_ops.h"
if cmp -s nnrt_ops.h "$folder/nnrt_ops.h"; then
    failed=$((failed + 1))
    echo 'FAIL nnrt_ops.h has no place for the change that must be seen: choose another'
else
    few='tests/ops/vectors/conv2d_fusion.vec tests/ops/vectors/matmul_fusion.vec'
    # shellcheck disable=SC2086  # two files
    want=$("$folder/t" $few | sed -n 's/^bits //p') # of the program that was compared last
    clang -std=c99 -O0 -w -I"$folder" -Itests/kit tests/ops/test_ops.c -o "$folder/t" -lm
    # shellcheck disable=SC2086
    if [ -z "$want" ] || [ "$("$folder/t" $few | sed -n 's/^bits //p')" = "$want" ]; then
        failed=$((failed + 1))
        echo 'FAIL the bits are the same although a kernel was changed'
    else
        passed=$((passed + 1))
    fi
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
