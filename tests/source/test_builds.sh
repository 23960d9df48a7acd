#!/bin/sh
# Builds the headers in every supported way: as one translation unit and as several, each header alone, gcc and
# clang, C99, C11 and C++17, all static, without the rest of the repository, with a program's own stb_ds. No warning
# is allowed. Linked programs are also run. Warnings of gcc's optimization: build/implementation.o and, with a smaller
# rank, the long form of the suite symbols (-O2), here for ARM (-Os).
# usage: test_builds.sh GCC.o CLANG.o G++.o CLANG++.o     object of the whole implementation by each compiler
#
# Compiling all operators takes gcc 8 seconds (more with optimization) and clang 4, parsing them 2 and 1, parsing
# declarations a tenth; tcc makes a program of them in 0.3. So programs that only have to link and run are tcc's, and each compiler compiles everything once, with all warnings, before this runs. clang checks, as
# C and as C++, that each header compiles alone: unlike gcc, it also reports unused functions and missing returns when
# it only parses. Programs are parsed without the implementation.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
gcc_object=$(realpath "$1") clang_object=$(realpath "$2") gxx_object=$(realpath "$3") clangxx_object=$(realpath "$4")
implemented=-D_XOPEN_SOURCE=700 # as the Makefile has it
for part in OPS_ MODEL_ PLAN_ HAL_ GRAPH_ '' ONNX_ QUANTIZE_ TFLITE_ GGUF_ SAFETENSORS_ CPU_ DRIVER_ FAKE_ REMOTE_ NNADAPTER_ NNADAPTER_DRIVER_ OHNN_; do
    implemented="$implemented -DNNRT_${part}IMPLEMENTED"
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'

# try NAME COMMAND...
try() {
    what=$1
    shift
    if "$@" >"$folder/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $what: $*"
        head -n 20 "$folder/log"
    fi
}

# flags COMPILER: language, language version and other required options
flags() {
    case $1 in
    *++) echo "-x c++ -std=c++17 $warnings -Wno-old-style-cast" ;;
    *) echo "-x c -std=c99 $warnings" ;;
    esac
}

# object COMPILER: its output file
object() {
    case $1 in
    gcc) echo "$gcc_object" ;;
    clang) echo "$clang_object" ;;
    g++) echo "$gxx_object" ;;
    *) echo "$clangxx_object" ;;
    esac
}

# reads NAME COMPILER FLAGS FILE : the compiler checks a file, without output
reads() {
    case $2 in g*) once=-Wno-misleading-indentation ;; *) once='' ;; esac # half of gcc's time: its object has been checked for it
    # shellcheck disable=SC2086  # flags are several words
    try "$1, $2 $3" "$2" $3 $once -I "$root" -fsyntax-only "$4"
}

# build NAME COMPILER FLAGS FILE... : compiles, links, runs
build() {
    title=$1 with=$2 how=$3
    shift 3
    rm -f "$folder/program"
    # shellcheck disable=SC2086  # flags are several words
    try "$title, $with $how" "$with" $how -I "$root" -o "$folder/program" "$@" -lm
    [ -x "$folder/program" ] && try "$title, $with $how: run" "$folder/program"
}

cd "$folder" || exit 1

cat >one.c <<'END'
#define NNRT_IMPLEMENTATION
#include "nnrt.h"
int main(void) { return nnrt_op_at(0) == NULL || nnrt_version()[0] == '\0'; }
END
cat >second.c <<'END'
#include "nnrt.h"
#ifdef __cplusplus
extern "C"
#endif
nnrt_session_desc second(void);
nnrt_session_desc second(void)
{
    nnrt_session_desc desc = nnrt_session_desc();
    desc.threads = nnrt_device_count();
    return desc;
}
END
sed 's/nnrt_session_desc desc = nnrt_session_desc();/nnrt_session_desc desc = {0};/' second.c >second_c.c
cat >main.c <<'END'
#include "nnrt.h"
#ifdef __cplusplus
extern "C"
#endif
nnrt_session_desc second(void);
int main(void) { return second().threads == 0 || nnrt_op_named("SOFTMAX") == NULL; }
END
# The declarations first, by way of another header perhaps, and the implementation later in the same file.
cat >later.c <<'END'
#include "nnrt.h"
#include "nnrt_ops.h"
#define NNRT_IMPLEMENTATION
#include "nnrt.h"
#include "nnrt.h"
int main(void) { return nnrt_op_at(0) == NULL; }
END
cat >static.c <<'END'
#define NNRT_STATIC
#define NNRT_IMPLEMENTATION
#include "nnrt.h"
int main(void) { return nnrt_op_at(0) == NULL; }
END
cat >formats.c <<'END'
#define NNRT_IMPLEMENTATION
#include "formats/nnrt_onnx.h"
#include "formats/nnrt_quantize.h"
#include "formats/nnrt_tflite.h"
#include "formats/nnrt_gguf.h"
#include "formats/nnrt_safetensors.h"
#include "devices/nnrt_cpu.h"
#include "devices/nnrt_driver.h"
#include "devices/nnrt_fake.h"
#include "devices/nnrt_mcu.h"
#include "devices/nnrt_remote.h"
END

cat >table.c <<'END'
#include "nnrt.h"
int main(void) { return nnrt_op_at(0) == NULL; }
END
for compiler in gcc clang g++ clang++; do
    options=$(flags $compiler)
    case $compiler in *++) second=second.c ;; *) second=second_c.c ;; esac
    build 'several units' "$compiler" "$options -O0" $second main.c -x none "$(object $compiler)"
    for header in nnrt_ops.h core/nnrt_frontend.h core/nnrt_model.h core/nnrt_text.h core/nnrt_plan.h nnrt_hal.h core/nnrt_graph.h nnrt.h formats/nnrt_onnx.h formats/nnrt_quantize.h formats/nnrt_tflite.h formats/nnrt_gguf.h formats/nnrt_safetensors.h devices/nnrt_auto.h devices/nnrt_cpu.h devices/nnrt_driver.h devices/nnrt_fake.h devices/nnrt_mcu.h devices/nnrt_remote.h; do
        printf '#include "%s"\n' $header >alone.c
        reads "declarations of $header alone" "$compiler" "$options" alone.c
        case "$compiler $header" in
        g* | *nnrt_onnx.h | *nnrt_quantize.h | *nnrt_tflite.h | *nnrt_gguf.h | *nnrt_safetensors.h) continue ;; # they have read that text in the object; that of formats/ is the object
        *' nnrt.h' | *nnrt_cpu.h) with='' ;; # the fast device lies beside nnrt.h, which includes it
        *) with=-DNNRT_CPU=0 ;;
        esac
        # clang reports in C if a header lacks something alone; its object has shown the rest of C++
        [ "$compiler $header" = 'clang++ nnrt.h' ] || [ $compiler = clang ] || [ -n "${NNRT_LONG:-}" ] || continue
        printf '#define NNRT_IMPLEMENTATION\n#include "%s"\n' $header >whole.c
        reads "$header alone" "$compiler" "$options $with" whole.c
    done
done
reads 'declarations before the implementation' clang "$(flags clang)" later.c
reads 'all static' g++ "$(flags g++)" static.c # as C the suite symbols compiles it
build 'packaging/nnrt.c as the implementation' clang "$(flags clang) -O0 -DNNRT_CPU=0" second_c.c main.c "$root/packaging/nnrt.c"
build 'one unit' tcc -std=c99 one.c
reads 'one unit' clang "-std=c11 $warnings" one.c
reads 'one unit' gcc "-std=c11 $warnings" one.c

# Enumerators have the type of the numbers that they are combined with, also if that is long (bare ARM).
cat >enums.cpp <<'END'
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#include "nnrt.h"
#include <type_traits>
template <typename T> static constexpr bool same(T) { return std::is_same<typename std::underlying_type<T>::type, int32_t>::value; }
static_assert(same(NNRT_FAILED) && same(NNRT_DATA_TYPE_INT8) && same(NNRT_NODE_TYPE_NONE) && same(NNRT_PAD_MODE_PAD), "");
int main() { return 0; }
END
reads 'types of enumerators, firmware' g++ "-x c++ -std=c++17 $warnings" enums.cpp
sed '/NNRT_IMPLEMENTATION/d' enums.cpp >declared.cpp
reads 'types of enumerators, firmware' clang++ "-x c++ -std=c++17 $warnings" declared.cpp
# It is not installed for this; make firmware installs the compiler itself.
if command -v arm-none-eabi-g++ >/dev/null 2>&1; then
    grep -v -e same -e type_traits enums.cpp >arm.cpp
    # shellcheck disable=SC2086
    try 'firmware for ARM as C++' arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb -std=c++17 $warnings -I "$root" -fsyntax-only arm.cpp
fi

# The implementation in C, the program in C++.
build 'program in C++ with an implementation in C' g++ "$warnings -std=c++17" main.c second.c -x none "$gcc_object"

# The headers of the root in an empty folder: nothing else of the repository is needed.
mkdir alone
cp -R "$root"/nnrt*.h "$root/core" one.c alone
# shellcheck disable=SC2086
try 'the headers in an empty folder' gcc -std=c99 $warnings -fsyntax-only alone/one.c

# stb_ds.h next to the headers precedes <stb/stb_ds.h>; without both, the compiler's message says how to get it. The system's
# headers are linked into a folder without stb. An stb_ds.h that must not be read precedes them.
mkdir -p three bad/stb system
cp -R "$root"/nnrt*.h "$root/core" one.c three
echo '#error the stb_ds.h of the system is read' >bad/stb/stb_ds.h
for file in /usr/include/*; do
    [ "${file##*/}" = stb ] || ln -s "$file" system
done
nostd="-nostdinc -isystem $(gcc -print-file-name=include) -isystem system"
nostd="$nostd -isystem /usr/include/$(gcc -print-multiarch)"
# shellcheck disable=SC2086  # flags are several words
gcc -std=c99 $nostd -fsyntax-only three/one.c 2>log
grep -q 'needs stb_ds.h.* libstb-dev.* beside nnrt.h.* NNRT_STB_DS_H' log
try 'without stb_ds.h: the remedy is named' test $? -eq 0
cp "$(echo '#include <stb/stb_ds.h>' | gcc ${CPPFLAGS:-} -M -x c - | tr ' ' '\n' | grep 'stb_ds\.h$')" three
# shellcheck disable=SC2086
try 'stb_ds.h beside the headers, none in the system' gcc -std=c99 $warnings $nostd -fsyntax-only three/one.c
try 'stb_ds.h beside the headers before that of the system' gcc -std=c99 -isystem bad -M three/one.c

# Windows by mingw-w64, if it is installed (make portability installs and runs it), and a compiler without atomics.
if command -v x86_64-w64-mingw32-gcc >/dev/null 2>&1; then
    for more in '' -DNNRT_THREADS=1; do
        # shellcheck disable=SC2086
        try 'Windows: the headers, link without libraries' x86_64-w64-mingw32-gcc -std=c99 $warnings $more -o alone/one.exe three/one.c \
            ${more:+-lpthread}
    done
fi
try 'tcc: the headers' tcc -std=c99 -o alone/tcc three/one.c -lm
try 'tcc: the headers: run' alone/tcc
tcc -std=c99 -DNNRT_THREADS=1 -o alone/tcc three/one.c -lm 2>log
grep -q 'NNRT_THREADS needs the atomics of gcc or clang' log
try 'tcc: threads are refused with a reason' test $? -eq 0

# A program that uses stb_ds, too: in the same file, before and after nnrt, and in another file.
cat >own.c <<'END'
#define STB_DS_IMPLEMENTATION
#include <stb/stb_ds.h>
int own(void);
int own(void)
{
    int *list = NULL, good;
    stbds_arrput(list, 7);
    stbds_arrput(list, 8);
    good = stbds_arrlen(list) == 2 && list[1] == 8;
    stbds_arrfree(list);
    return good;
}
END
{ cat own.c && sed 's/main(void) { return /main(void) { return !own() || /' one.c; } >before.c
{ sed '/^int main/d' one.c && cat own.c && echo 'int main(void) { return !own() || nnrt_op_at(0) == NULL; }'; } >after.c
{ echo 'int own(void);' && sed '/^#define/d; s/main(void) { return /main(void) { return !own() || /' one.c; } >beside.c
own='-std=gnu99 -O0 -Wall -Wextra -Werror -DNNRT_CPU=0' # the fast device has nothing to do with stb_ds
for where in before after; do
    build "own stb_ds $where nnrt" tcc "$own" $where.c
    reads "own stb_ds $where nnrt" gcc "$own" $where.c
    reads "own stb_ds $where nnrt" clang "$own" $where.c
done
for compiler in gcc clang; do
    build 'own stb_ds in another file' "$compiler" "$own" beside.c own.c -x none "$(object $compiler)"
done

# Options that change the compiled code.
reads 'NNRT_FP_STRICT' clang "-std=c99 $warnings -DNNRT_FP_STRICT" one.c # the suite bits runs it
for option in -DNNRT_NO_STDIO -DNNRT_NO_MESSAGES '-DNNRT_SELECT -DNNRT_KEEP_RESHAPE=1 -DNNRT_KEEP_TYPES=NNRT_TYPES_F32'; do
    build 'an option' tcc "-std=c99 $option" formats.c table.c
    reads 'an option' gcc "-std=c99 $warnings $option" formats.c
    reads 'an option' clang "-std=c99 $warnings $option" one.c
done
reads 'NNRT_CPU_AVX512, NNRT_CPU_AVX2' gcc "-std=c99 $warnings -DNNRT_CPU_AVX512=0 -DNNRT_CPU_AVX2=0" one.c
reads 'NNRT_CPU_AVX512' clang "-std=c99 $warnings -DNNRT_CPU_AVX512=0" one.c
reads 'NNRT_MAX_RANK, all headers' gcc "-std=c99 $warnings -DNNRT_MAX_RANK=4" formats.c
[ -z "${NNRT_LONG:-}" ] || build 'what a build with NNRT_MAX_RANK 4 says' clang \
    '-std=c99 -O0 -fsanitize=address,bounds -fno-sanitize-recover=all -DNNRT_MAX_RANK=4 -DNNRT_CPU_AVX512=0 -DNNRT_CPU_AVX2=0' \
    -I "$root/tests/kit" "$root/tests/formats/test_onnx_import.c" "$root/tests/kit/nnrt.c" -lcmocka
try 'NNRT_MAX_RANK 9 is refused' sh -c "! gcc -DNNRT_MAX_RANK=9 -I '$root' -x c -fsyntax-only '$root/nnrt_ops.h' 2>/dev/null"

# A driver and the program that uses it, each built with options of its own; both with the operators that the program has.
for options in '' -DNNRT_NO_MESSAGES -DNNRT_MAX_RANK=4; do
    for side in driver program; do
        # shellcheck disable=SC2086
        try "a $side with '$options'" clang -std=c99 $warnings -O0 -fsanitize=address -DNNRT_CPU=0 -DNNRT_SELECT \
            -DNNRT_KEEP_ACTIVATION=1 -DNNRT_KEEP_GATHER=1 -I "$root" -I "$root/tests/kit" $options -c \
            -o "$side$options.o" "$root/tests/devices/foreign_$side.c"
    done
done
for program in '' -DNNRT_NO_MESSAGES -DNNRT_MAX_RANK=4; do
    for driver in '' -DNNRT_NO_MESSAGES -DNNRT_MAX_RANK=4; do
        rank=8
        [ "$driver" = -DNNRT_MAX_RANK=4 ] && rank=4
        try "a program with '$program', a driver with '$driver'" clang -fsanitize=address -o program "./program$program.o" \
            "./driver$driver.o" -lm
        try "a program with '$program', a driver with '$driver': run" ./program $rank
    done
done

# Programs of the repository. Both compilers check them; NNRT_LONG=1: gcc the test programs, too, which the Makefile compiles by
# clang with all warnings. With the implementation in them, or its text (tests/kit/inside.h), gcc takes seconds: clang has compiled them.
for program in "$root"/tests/[a-eg-z]*/*.c "$root"/tests/f[a-t]*/*.c "$root"/tools/*.c "$root"/examples/*.c "$root"/examples/*/*.c; do
    with=$implemented compilers='gcc clang'
    case $program in
    */examples/android/*) continue ;; # needs jni.h of a JDK: make packages-test PARTS=java compiles it with these warnings
    */tools/nnrt_mpi.c) continue ;; # needs mpi.h of Open MPI: make mpi compiles it with these warnings
    */tests/kit/nnrt.c | */tests/source/headers.c) continue ;; # the objects that the Makefile compiles, with these warnings
    */examples/firmware/* | */examples/kws/firmware.c | */examples/vad/firmware.c | */examples/text/firmware.c | */tests/firmware/mcu_main.c | */tests/firmware/mcu_file_main.c | */tests/firmware/mcu_vectors_main.c | */tests/devices/foreign_* | */tests/source/cross/* | */tests/source/packages/* | */tests/bench/bench.c | */tests/bench/[noqx]*) continue ;; # make firmware, kws-firmware, vad-firmware, text-firmware, mcu-layers compile them, for other processors; above
    */tools/kernels.c) with=-Wno-unused-function ;; # it has the implementation in it, and calls none of it
    */test_* | */tests/devices/differential.c | */tests/ops/device_vectors.c | */tests/formats/onnx_nodes.c | */tests/devices/splits.c) compilers=${NNRT_LONG:+gcc} ;;
    esac
    case $program in
    */tests/*) if grep -qE '^#define NNRT_IMPLEMENTATION|^#include "inside.h"' "$program"; then
        [ "${compilers:-gcc}" != gcc ] || continue
        with='' compilers=clang
    fi ;;
    esac
    for compiler in $compilers; do
        # shellcheck disable=SC2046,SC2086
        try "${program#"$root"/}, $compiler" $compiler $(flags $compiler) $with -I "$root" -I "$root/tests/kit" -I "$root/compat" -fsyntax-only "$program"
    done
done
for compiler in g++ clang++; do
    # shellcheck disable=SC2046,SC2086
    try "examples/hello.c, $compiler" "$compiler" $(flags $compiler) $implemented -I "$root" -fsyntax-only "$root/examples/hello.c"
    # shellcheck disable=SC2046,SC2086
    try "examples/device, $compiler" "$compiler" $(flags $compiler) $implemented -I "$root" -fsyntax-only "$root/examples/device/main.c"
    # shellcheck disable=SC2046,SC2086
    try "examples/custom, $compiler" "$compiler" $(flags $compiler) $implemented -I "$root" -fsyntax-only "$root/examples/custom/custom.c"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
