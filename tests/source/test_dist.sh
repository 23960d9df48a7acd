#!/bin/sh
# The amalgamation is equivalent to the headers: tools/amalgamate.py writes it, it compiles everywhere without stb_ds, has
# the same macros, symbols and machine code as the headers, coexists with a program's own stb_ds, and passes some of the
# tests. `make dist` runs all tests against it. Runs from anywhere; ends with "N passed, N failed".
# usage: test_dist.sh CLANG.o CLANG++.o     their objects of the headers, tests/source/headers.c
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
headers_clang=$(realpath "$1") headers_clangxx=$(realpath "$2")
. "$(dirname "$0")/../kit/verdict.sh"
python=${PYTHON:-/usr/bin/python3}
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
c99="-x c -std=c99 $warnings"
cpp17="-x c++ -std=c++17 $warnings"

# refuse NAME PATTERN COMMAND... : the command fails, with a line like PATTERN
refuse() {
    what=$1 pattern=$2
    shift 2
    ! "$@" >"$folder/log" 2>&1 && grep -qE "$pattern" "$folder/log"
    verdict "$what: is not refused as '$pattern'" $? "$folder/log"
}

# build NAME COMPILER FLAGS FILE... : compiles with the amalgamation, links, runs
build() {
    title=$1 with=$2 how=$3
    shift 3
    rm -f program
    # shellcheck disable=SC2086  # flags are several words
    try "$title, $with" "$with" $how -Idist -o program "$@" -lm
    [ -x program ] && try "$title, $with: run" ./program
}

cd "$folder" || exit 1

# ---- the file ----

try 'the amalgamation is written' "$python" "$root/tools/amalgamate.py" dist
cat log
files=$(cd dist && find . -type f | sed 's:^\./::' | sort | tr '\n' ' ')
[ "$(sed -nE 's:^dist/([a-z_/]+\.h)\: [0-9]{3,} bytes, [0-9]+ lines$:\1:p' log | sort | tr '\n' ' ')" = "$files" ]
verdict 'sizes of all files are printed' $? log
{ echo nnrt_all.h && cd "$root" && find nnrt.h core/nnrt_frontend.h formats devices compat -name '*.h' ! -name nnrt_cpu_kernels.h 2>/dev/null; } |
    sed -E 's:^(core|formats|devices|compat)/::' | sort | tr '\n' ' ' >log
[ "$files" = "$(cat log)" ]
verdict "dist/ holds $files" $?
"$python" "$root/tools/amalgamate.py" again >/dev/null && diff -r dist again >log
verdict 'it is the same when it is written again' $? log
for file in nnrt.h nnrt_all.h; do
    ! grep -nE '^#[ \t]*include[ \t]*"' dist/$file | grep -v "\"$file\"\$" >log
    verdict "dist/$file includes no file of ours but itself" $? log
done
! grep -nE '^#[ \t]*line' dist/*.h >log
verdict 'there is no #line' $? log
for words in 'Copyright (c) 2026 nnrt authors' 'Copyright (c) 2019 Sean Barrett'; do
    [ "$(grep -cF "$words" dist/nnrt.h)" -eq 1 ]
    verdict "dist/nnrt.h: '$words' once" $?
done
[ "$(grep -n '^#if.*defined(NNRT_IMPLEMENTATION)' dist/nnrt.h | head -n 1 | cut -d : -f 1)" -gt \
    "$(grep -n '^#define NNRT_H$' dist/nnrt.h | cut -d : -f 1)" ]
verdict 'declarations stand before the implementation' $?

# ---- invalid sources are refused ----

mkdir -p broken/tools && cp "$root"/*.h "$root/LICENSE" broken && cp -R "$root/core" "$root/formats" "$root/devices" "$root/compat" broken
cp "$root/tools/amalgamate.py" broken/tools
# shellcheck disable=SC2086  # CPPFLAGS are several words
stb=$(printf '#include <stb/stb_ds.h>\n' | ${CC:-cc} ${CPPFLAGS:-} -M -x c - | tr ' ' '\n' | grep 'stb_ds\.h$')
# broken FILE CHANGE PATTERN
broken() {
    cp "$root/$1" "broken/$1"
    sed "$2" "$root/$1" >"broken/$1"
    refuse "$1 after $2" "$3" "$python" broken/tools/amalgamate.py out
    cp "$root/$1" "broken/$1"
}
try 'the copy that is broken next' "$python" broken/tools/amalgamate.py out
broken core/nnrt_graph.h 's/INCLUDE_STB_DS_H/OTHER_H/' 'INCLUDE_STB_DS_H'
broken nnrt.h 's/^#include <string.h>/&\n#include "nnrt_more.h"/' 'nnrt_more'
broken core/nnrt_graph.h 's/stbds_arrlenu(array)/stbds_arrnothing(array)/' 'stbds_arrnothing'
broken nnrt_hal.h 's/^#if.*defined(NNRT_IMPLEMENTATION).*/#if 1/' 'nnrt_hal\.h'
broken nnrt_ops.h '/^#endif .* NNRT_OPS_H/d' '#endif'
sed 's/^} stbds_array_header;/} stbds_header_of_array;/' "$stb" >stb_other.h
refuse 'another stb_ds.h' 'stbds_array_header' "$python" "$root/tools/amalgamate.py" --stb stb_other.h out

# ---- it compiles ----

printf '#define NNRT_IMPLEMENTATION\n#include "nnrt_onnx.h"\n#include "nnrt_tflite.h"\nint main(void) { return nnrt_op_at(0) == NULL; }\n' >one.c
sed 's:core/\|formats/\|devices/::' "$root/tests/source/headers.c" >implementation.c
printf '#include "nnrt_onnx.h"\n#include "nnrt_tflite.h"\n' >alone.c
{ echo '#include "nnrt.h"' && cat alone.c one.c; } >later.c
cat >main.c <<'END'
#include "nnrt.h"
int main(void) { return nnrt_op_named("SOFTMAX") == NULL || nnrt_device_count() == 0; }
END
sed '1i #define NNRT_STATIC' one.c >static.c
for compiler in gcc clang clang++; do # each makes code of it once; with a section for each function, to be compared below
    case $compiler in *++) options=$cpp17 ;; *) options=$c99 ;; esac
    [ $compiler != gcc ] || options="$options -DNNRT_CPU_AVX512=0 -DNNRT_CPU_AVX2=0" # it is not compared
    # shellcheck disable=SC2086
    try "the implementation, $compiler" $compiler $options -O0 -ffunction-sections -fdata-sections -Idist -c -o $compiler.o \
        implementation.c
    build 'several units' $compiler "$options -O0" main.c -x none $compiler.o
done
for compiler in gcc clang g++ clang++; do
    case $compiler in *++) options=$cpp17 ;; *) options=$c99 ;; esac
    # shellcheck disable=SC2086
    try "declarations, $compiler" $compiler $options -Idist -fsyntax-only alone.c
done
for compiler in clang g++; do # gcc, which takes 4 seconds to read a file as long as this, has made code of it
    case $compiler in *++) options=$cpp17 ;; *) options=$c99 ;; esac
    # shellcheck disable=SC2086
    try "without files, $compiler" $compiler $options -DNNRT_NO_STDIO -Idist -fsyntax-only one.c
    # shellcheck disable=SC2086
    try "declarations before the implementation, $compiler" $compiler $options -Idist -fsyntax-only later.c
done
build 'one unit' clang "$c99 -O0 -DNNRT_CPU=0" one.c
cat >all.c <<'END'
#define NNRT_IMPLEMENTATION
#include "nnrt_all.h"
int main(void)
{
    NNRT_Model *model = NULL;
    nnrt_error error = {NNRT_SUCCESS};
    return nnrt_onnx_load(&model, "missing.onnx", NULL, &error) == NNRT_SUCCESS ||
           nnrt_tflite_load(&model, "missing.tflite", NULL, &error) == NNRT_SUCCESS || nnrt_device_find("auto") == NULL ||
           (nnrt_cpu_set(0) != NULL && nnrt_device_find("cpu") == NULL);
}
END
build 'one file with the readers and the devices' clang "-x c -std=c99 -O0 -DNNRT_CPU_AVX512=0" all.c
try 'the same as C++' g++ -x c++ -std=c++17 -fsyntax-only -Idist all.c
build 'all static' clang "$c99 -O0" static.c
cat >apis.c <<'END'
#define NNRT_IMPLEMENTATION
#include "nnrt_nnadapter_driver.h"
#include "nnrt_ohnn.h"
int main(void)
{
    const char *name = NULL;
    uint32_t count = 0;
    return OH_NNDevice_GetName(0, &name) != OH_NN_SUCCESS ||
           NNAdapter_getDeviceCount(&count) != NNADAPTER_NO_ERROR || count == 0;
}
END
build 'OH_NN and NNAdapter in one' clang "$c99 -O0 -DNNRT_CPU=0" apis.c
for compiler in gcc g++; do
    case $compiler in *++) options=$cpp17 ;; *) options=$c99 ;; esac
    # shellcheck disable=SC2086
    try "OH_NN and NNAdapter in one, $compiler" $compiler $options -Idist -fsyntax-only apis.c
done
# shellcheck disable=SC2086
try 'NNRT_FP_STRICT' clang $c99 -DNNRT_FP_STRICT -Idist -fsyntax-only one.c
build 'program in C++ with an implementation in C' g++ "$warnings -std=c++17" main.c -x none gcc.o
gcc -std=c99 -Idist -M one.c >log && ! grep -q 'stb' log
verdict 'no file of stb is read' $? log

# ---- the same as the headers ----

sed 's:nnrt_onnx\|nnrt_tflite:formats/&:' one.c >headers.c
sed 1d headers.c >headers_declared.c
# macros FILE -I: its macros, without those about stb_ds
macros() {
    gcc -std=c99 -dM -E "$2" "$1" | grep -vE 'NNRTI?_(HAL_H|OPS_H|STBDS)|[Ss][Tt][Bb]_?[Dd][Ss]' | sort
}
macros alone.c -Idist >dist.macros
macros headers_declared.c "-I$root" >headers.macros
[ "$(grep -c NNRT dist.macros)" -gt 50 ] && diff headers.macros dist.macros >log
verdict 'the macros are those of the headers' $? log
gcc -std=c99 -dM -E -Idist one.c | awk '{ print $2 }' | grep -iE 'stb_?ds' | grep -v '^nnrti_stbds_' >log
verdict 'no macro of stb_ds is left' "$(wc -l <log)" log
# code OBJECT: its functions and constants by their names, line by line, and its texts. The order does not count, nor do the
# numbers that the compiler gives to tables of its own.
code() {
    objdump -s "$1" | awk '/^Contents of section/ { name = $4; sub(/\.[0-9]*:$/, ":", name); next } { print name, $0 }' |
        grep -E '^\.(text|data|rodata)\.[a-zA-Z_]' | grep -v '^\.rodata\.str' | sort
    objcopy -O binary -j '.rodata.str*' "$1" texts && tr '\0' '\n' <texts | sort
}
for compiler in clang clang++; do
    case $compiler in *++) headers=$headers_clangxx ;; *) headers=$headers_clang ;; esac
    for which in "$headers" $compiler.o; do
        to=headers
        [ "$which" = "$headers" ] || to=dist
        nm "$which" | awk '{ print $(NF - 1), $NF }' | sed 's:\.[0-9]*$::' | sort >$to.symbols
        code "$which" >$to.code
    done
    [ "$(wc -l <dist.symbols)" -gt 300 ] && diff headers.symbols dist.symbols >log
    verdict "the symbols are those of the headers, $compiler" $? log
    [ "$(wc -l <dist.code)" -gt 10000 ] && diff headers.code dist.code >log 2>&1
    verdict "machine code and constants are those of the headers, $compiler" $? log
done

# ---- with a program's own stb_ds ----

cat >own.c <<'OWN'
#include <stdlib.h>
int taken;
void *take(void *block, size_t bytes);
void *take(void *block, size_t bytes)
{
    taken++;
    return realloc(block, bytes);
}
#define STBDS_REALLOC(context, block, bytes) take(block, bytes)
#define STBDS_FREE(context, block) free(block)
#ifndef DECLARED_ONLY
#define STB_DS_IMPLEMENTATION
#endif
#include <stb/stb_ds.h>
int own(void);
int own(void)
{
    struct { char *key; int value; } *map = NULL;
    int *list = NULL, good;
    arrput(list, 7);
    stbds_arrput(list, 8);
    shput(map, "seven", 7);
    good = arrlen(list) == 2 && list[1] == 8 && shget(map, "seven") == 7 && taken >= DECLARED;
    arrfree(list);
    shfree(map);
    return good;
}
OWN
end='int main(void) { return !own() || nnrt_op_at(0) == NULL; }'
nnrt=$(sed '$d' one.c)
{ cat own.c && printf '%s\n' "$nnrt" "$end"; } >before.c
{ printf '%s\n' "$nnrt" && cat own.c && echo "$end"; } >behind.c
{ printf '%s\n#include "nnrt.h"\n' '#define STB_DS_IMPLEMENTATION' | cat - own.c && printf '%s\n' "$nnrt" "$end"; } |
    sed '2,$s/^#define STB_DS_IMPLEMENTATION//' >defined.c
printf '#define STB_DS_IMPLEMENTATION\n#include <stb/stb_ds.h>\n' >theirs.c
printf 'int own(void);\n#include "nnrt.h"\n%s\n' "$end" >beside.c
options='-std=gnu99 -O0 -Wall -Wextra -Werror -DNNRT_CPU=0' # the fast device has nothing to do with stb_ds
for where in before behind defined; do
    build "own stb_ds, $where" clang "$options -DDECLARED=2" $where.c
done
# shellcheck disable=SC2086
try "own stb_ds, before and behind, gcc" gcc $options -DDECLARED=2 -Idist -fsyntax-only defined.c
for compiler in gcc clang; do
    build 'own stb_ds in another file' $compiler "$options -DDECLARED=2" beside.c own.c -x none $compiler.o
done
options="$options -DDECLARED=0 -DDECLARED_ONLY"
build 'own stb_ds before, its implementation in another file' clang "$options" before.c theirs.c
build 'own stb_ds behind, its implementation in another file' clang "$options" behind.c theirs.c

# ---- tests and examples against it ----

try 'a tree with the amalgamation in the place of the headers' sh "$root/tests/source/dist_tree.sh" dist tree
cd tree || exit 1
for program in tools/nnrt.c tests/formats/onnx_nodes.c tests/devices/test_hal.c tests/ops/test_ops.c examples/hello.c; do
    ${CC:-cc} -std=c99 -I. -Itests/kit -M $program | tr ' ' '\n' | grep 'nnrt.*\.h$' >../log
    grep -q 'nnrt\.h$' ../log && ! grep -q "$root" ../log
    verdict "$program in that tree reads other headers" $? ../log
done
try 'tests/kit/nnrt.c' clang -std=c99 -O0 -w -DNNRT_CPU_AVX512=0 -DNNRT_CPU_AVX2=0 -I. -c -o ../implementation.o tests/kit/nnrt.c
for name in session builder hal; do
    with=../implementation.o
    grep -q '^#define NNRT_IMPLEMENTATION' tests/*/test_$name.c && with=
    # shellcheck disable=SC2086  # a file or none
    try "test_$name.c" clang -std=c99 -O0 -w -I. -Itests/kit -o ../cmocka tests/*/test_$name.c $with -lcmocka -lm -lpthread
    ../cmocka >../log 2>&1 && grep -q '^\[  PASSED  \] [1-9]' ../log
    verdict "test_$name.c: run" $? ../log
done

# bits FOLDER [FILE]: test_ops with the headers in FOLDER passes the vectors of FILE, or all; prints the hash over all results
bits() {
    clang -std=c99 -O0 -w -DNNRT_CPU=0 -I"$1" -Itests/kit -o ../test_ops tests/ops/test_ops.c -lm >../log 2>&1 || return
    # shellcheck disable=SC2046  # files are several
    ../test_ops $([ $# -gt 1 ] && echo "$2" || ls tests/ops/vectors/*.vec) >../log 2>&1 && sed -n 's/^bits //p' ../log
}
[ -n "$(bits .)" ]
verdict 'vectors' $? ../log
mkdir ../changed && cp nnrt_ops.h ../changed && sed 's/a <= b/a < b/' nnrt.h >../changed/nnrt.h
! cmp -s nnrt.h ../changed/nnrt.h && ! bits ../changed tests/ops/vectors/less_equal.vec >/dev/null && grep -q '[1-9][0-9]* failed' ../log
verdict 'vectors: a kernel that was changed in the amalgamation is not noticed' $? ../log
try 'hello' clang -std=c99 -O0 -I. -o ../hello examples/hello.c -lm
try 'hello: run' ../hello examples/digits/digits.onnx
try 'digits' clang -std=c99 -O0 -DNNRT_CPU=0 -I. -o ../digits examples/digits/digits.c -lm
try 'digits: run' ../digits examples/digits/digits.onnx examples/digits/sheet.png

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
