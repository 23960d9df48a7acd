#!/bin/sh
# The amalgamation is equivalent to the headers: tools/single.c writes it, it compiles everywhere without stb_ds, has
# the same macros, symbols and machine code as the headers, coexists with a program's own stb_ds, and passes some of the
# tests. The first program of README.md uses it. `make dist` runs all tests against it. Runs from anywhere; ends with
# "N passed, N failed".
# Code of the whole implementation takes gcc and clang more than 10 s. So clang makes it once as C and once as C++, tcc (0.3 s)
# makes programs that only have to link and run, and the others check the syntax. NNRT_LONG=1: some of the tests against it, too.
# usage: test_dist.sh SINGLE CLANG.o     build/single; clang's object of the headers, tests/source/headers.c
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
single=$(realpath "$1") headers=$(realpath "$2")
. "$(dirname "$0")/../kit/verdict.sh"
export LC_ALL=C
# gcc 12 takes 13 s to look at the indentation in a file of 80,000 lines. The headers are checked with that warning.
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Wno-misleading-indentation'
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

try 'the amalgamation is written' "$single" --root "$root" dist
cat log
files=$(cd dist && find . -type f | sed 's:^\./::' | sort | tr '\n' ' ')
[ "$(sed -nE 's:^dist/([a-z_/]+\.h)\: [0-9]{3,} bytes, [0-9]+ lines$:\1:p' log | sort | tr '\n' ' ')" = "$files" ]
verdict 'sizes of all files are printed' $? log
{ echo nnrt_all.h && cd "$root" && find nnrt.h core/nnrt_frontend.h core/nnrt_text.h formats devices compat -name '*.h' ! -name nnrt_cpu_kernels.h 2>/dev/null; } |
    sed -E 's:^(core|formats|devices|compat)/::' | sort | tr '\n' ' ' >log
[ "$files" = "$(cat log)" ]
verdict "dist/ holds $files" $?
"$single" --root "$root" again >/dev/null && diff -r dist again >log
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

mkdir broken && cp "$root"/*.h "$root/LICENSE" broken && cp -R "$root/core" "$root/formats" "$root/devices" "$root/compat" broken
# shellcheck disable=SC2086  # CPPFLAGS are several words
stb=$(printf '#include <stb/stb_ds.h>\n' | ${CC:-cc} ${CPPFLAGS:-} -M -x c - | tr ' ' '\n' | grep 'stb_ds\.h$')
# broken FILE CHANGE PATTERN
broken() {
    cp "$root/$1" "broken/$1"
    sed "$2" "$root/$1" >"broken/$1"
    refuse "$1 after $2" "$3" "$single" --root broken out
    cp "$root/$1" "broken/$1"
}
try 'the copy that is broken next' "$single" --root broken whole
broken core/nnrt_graph.h 's/INCLUDE_STB_DS_H/OTHER_H/' 'INCLUDE_STB_DS_H'
broken nnrt.h 's/^#include <string.h>/&\n#include "nnrt_more.h"/' 'nnrt_more'
broken core/nnrt_graph.h 's/stbds_arrlenu(array)/stbds_arrnothing(array)/' 'stbds_arrnothing'
broken nnrt_hal.h 's/^#if.*defined(NNRT_IMPLEMENTATION).*/#if 1/' 'nnrt_hal\.h'
broken nnrt_ops.h '/^#endif .* NNRT_OPS_H/d' '#endif'
broken nnrt_hal.h 's/-- implementation --/implementation/' 'nnrt_hal\.h.*sections'
broken core/nnrt_plan.h "1,2s/plan/$(printf '\303\244')/" 'nnrt_plan\.h: line 2 .* not ASCII'
broken nnrt.h 's/^#define NNRT_VERSION_MINOR.*//' 'NNRT_VERSION_MINOR'
broken formats/nnrt_onnx.h 1d 'nnrt_onnx\.h: has no top comment'
sed 's/^} stbds_array_header;/} stbds_header_of_array;/' "$stb" >stb_other.h
refuse 'another stb_ds.h' 'stbds_array_header' "$single" --root "$root" --stb stb_other.h out
refuse 'no stb_ds.h' 'false finds no .* libstb-dev' env CC=false "$single" --root "$root" out
refuse 'another folder' 'nnrt\.h: No such file' "$single" --root dist/nnadapter out
refuse 'an option that does not exist' 'usage: single' "$single" --other out
[ ! -e out ]
verdict 'refused sources leave no file' $?

# ---- it compiles ----

printf '#define NNRT_IMPLEMENTATION\n#include "nnrt_onnx.h"\n#include "nnrt_tflite.h"\n#include "nnrt_gguf.h"\n#include "nnrt_safetensors.h"\nint main(void) { return nnrt_op_at(0) == NULL; }\n' >one.c
sed 's:core/\|formats/\|devices/::' "$root/tests/source/headers.c" >implementation.c
printf '#include "nnrt_onnx.h"\n#include "nnrt_tflite.h"\n#include "nnrt_gguf.h"\n#include "nnrt_safetensors.h"\n' >alone.c
{ echo '#include "nnrt.h"' && cat alone.c one.c; } >later.c
cat >main.c <<'END'
#include "nnrt.h"
int main(void) { return nnrt_op_named("SOFTMAX") == NULL || nnrt_device_count() == 0; }
END
sed '1i #define NNRT_STATIC' one.c >static.c
# with a section for each function, to be compared below
# shellcheck disable=SC2086
try 'the implementation, clang' clang $c99 -O0 -ffunction-sections -fdata-sections -Idist -c -o clang.o implementation.c
build 'several units' clang "$c99 -O0" main.c -x none clang.o
for compiler in gcc clang g++ clang++; do
    case $compiler in *++) options=$cpp17 ;; *) options=$c99 ;; esac
    # shellcheck disable=SC2086
    try "declarations, $compiler" $compiler $options -Idist -fsyntax-only alone.c
done
# shellcheck disable=SC2086
try 'without files, declarations before the implementation' clang $c99 -DNNRT_NO_STDIO -Idist -fsyntax-only later.c
build 'one unit, declarations before the implementation' tcc -std=c99 later.c
build 'without the device cpu' tcc '-std=c99 -DNNRT_CPU=0' one.c
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
build 'OH_NN and NNAdapter in one' tcc -std=c99 apis.c
# shellcheck disable=SC2086
try 'OH_NN and NNAdapter in one, g++' g++ $cpp17 -DNNRT_CPU=0 -Idist -fsyntax-only apis.c
# shellcheck disable=SC2086
try 'NNRT_FP_STRICT' clang $c99 -DNNRT_FP_STRICT -Idist -fsyntax-only one.c
gcc -std=c99 -Idist -M one.c >log && ! grep -q 'stb' log
verdict 'no file of stb is read' $? log

# ---- the first program of README.md ----

# By README's compile line, where code is made without optimization and without some kernels of the device cpu.
awk '/^```c$/ { inside = 1; next } /^```$/ && inside { exit } inside' "$root/README.md" >program.c
line=$(sed -nE 's/^`cc (.*) program\.c -lm`.*/\1/p' "$root/README.md")
[ "$line" = '-std=c99 -O2 -Idist' ] && grep -q '^#include "nnrt_all.h"$' program.c && [ "$(grep -c '[a-z]' program.c)" -le 12 ]
verdict 'README.md begins with a program of twelve lines, and its compile line' $? program.c
# digits COMPILER OPTIONS: compiles, links and runs it; its output is one probability, the same for all compilers
digits() {
    # shellcheck disable=SC2086
    try "README.md, $1" "$1" $2 -c -o "$1.o" program.c
    try "README.md, $1: link" "$1" -o program "$1.o" -lm
    (cd "$root" && "$folder/program") >"$1.said" 2>log
    grep -qxE 'probability of 7: 0\.[0-9]{3}' "$1.said" && cmp tcc.said "$1.said" >>log
    verdict "README.md, $1: run" $? log
}
digits tcc "-Wall -Werror $line"
digits clang++ "$cpp17 -Idist -O0 -DNNRT_CPU_AVX512=0 -DNNRT_CPU_AVX2=0" # half of the code
for compiler in gcc clang; do
    # shellcheck disable=SC2086
    try "README.md, $compiler" $compiler $warnings $line -fsyntax-only program.c
done
# shellcheck disable=SC2086
try 'README.md, g++' g++ $cpp17 -Idist -fsyntax-only program.c
# A Cortex-M4 with newlib, which asks the debugger for files.
# shellcheck disable=SC2086
try 'README.md, Cortex-M4, without the device cpu' arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb $warnings $line -O0 -DNNRT_CPU=0 \
    --specs=rdimon.specs -o board program.c -lm

# Its object has the implementation for programs of several files.
objcopy --redefine-sym main=main_of_readme clang++.o
build 'several units, C++' clang++ "$cpp17 -O0" main.c -x none clang++.o
nm -g --defined-only clang++.o >log && grep -q ' T nnrt_run$' log && ! grep ' _Z' log
verdict 'C++: exported functions have the names of C' $?
build 'program in C++ with an implementation in C' g++ "$warnings -std=c++17" main.c -x none clang.o
cat >all.c <<'END'
#include "nnrt_all.h"
int main(void)
{
    NNRT_Model *model = NULL;
    nnrt_error error = {NNRT_SUCCESS};
    return nnrt_onnx_load(&model, "missing.onnx", NULL, &error) == NNRT_SUCCESS ||
           nnrt_tflite_load(&model, "missing.tflite", NULL, &error) == NNRT_SUCCESS ||
           nnrt_gguf_load(&model, "missing.gguf", NULL, &error) == NNRT_SUCCESS || nnrt_device_find("auto") == NULL ||
           (nnrt_cpu_set(0) != NULL && nnrt_device_find("cpu") == NULL);
}
END
build 'one file with the readers and the devices' gcc '-std=c99' all.c clang.o
sed -n '/^QUICK START/,/^FILES/p' dist/nnrt_all.h >log
[ "$(grep -c '#include "nnrt' log)" -eq 1 ] && grep -q '#include "nnrt_all.h"' log
verdict 'the program at the top of dist/nnrt_all.h includes this file' $? log

# ---- the same as the headers ----

sed 's:nnrt_onnx\|nnrt_tflite\|nnrt_gguf\|nnrt_safetensors:formats/&:' one.c >headers.c
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
for which in "$headers" clang.o; do
    to=headers
    [ "$which" = "$headers" ] || to=dist
    nm "$which" | awk '{ print $(NF - 1), $NF }' | sed 's:\.[0-9]*$::' | sort >$to.symbols
    code "$which" >$to.code
done
[ "$(wc -l <dist.symbols)" -gt 300 ] && diff headers.symbols dist.symbols >log
verdict 'the symbols are those of the headers' $? log
[ "$(wc -l <dist.code)" -gt 10000 ] && diff headers.code dist.code >log 2>&1
verdict 'machine code and constants are those of the headers' $? log
# lines COMPILER OPTIONS FILE: what the compiler reads, line by line, without the order. In the headers that is also all of
# stb_ds.h: lines that do not name nnrt.
lines() {
    # shellcheck disable=SC2086
    "$1" $2 -E -P "$3" | tr -s ' ' | grep -vi stbds | sort
}
for compiler in gcc g++ clang++; do
    case $compiler in *++) options='-x c++ -std=c++17' ;; *) options=-std=c99 ;; esac
    lines $compiler "$options -Idist" implementation.c >dist.lines
    lines $compiler "$options -I$root" "$root/tests/source/headers.c" >headers.lines
    comm -13 headers.lines dist.lines >log
    comm -23 headers.lines dist.lines >theirs
    [ "$(wc -l <dist.lines)" -gt 50000 ] && [ ! -s log ] && [ "$(wc -l <theirs)" -lt 50 ] && ! grep -i nnrt theirs >log
    verdict "the lines are those of the headers, $compiler" $? log
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
options='-std=gnu99 -O0 -Wall -Wextra -Werror -Wno-misleading-indentation -DNNRT_CPU=0' # the fast device has nothing to do with stb_ds
for where in before behind defined; do
    build "own stb_ds, $where" tcc "$options -DDECLARED=2" $where.c
done
for compiler in gcc clang; do
    # shellcheck disable=SC2086
    try "own stb_ds, before and behind, $compiler" $compiler $options -DDECLARED=2 -Idist -fsyntax-only defined.c
done
build 'own stb_ds in another file' gcc "$options -DDECLARED=2" beside.c own.c -x none clang.o
options="$options -DDECLARED=0 -DDECLARED_ONLY"
build 'own stb_ds before, its implementation in another file' tcc "$options" before.c theirs.c
build 'own stb_ds behind, its implementation in another file' tcc "$options" behind.c theirs.c

# ---- tests and examples against it ----

try 'a tree with the amalgamation in the place of the headers' sh "$root/tests/source/dist_tree.sh" dist tree
cd tree || exit 1
for program in tools/nnrt.c tests/formats/onnx_nodes.c tests/devices/test_hal.c tests/ops/test_ops.c examples/hello.c; do
    ${CC:-cc} -std=c99 -I. -Itests/kit -M $program | tr ' ' '\n' | grep 'nnrt.*\.h$' >../log
    grep -q 'nnrt\.h$' ../log && ! grep -q "$root" ../log
    verdict "$program in that tree reads other headers" $? ../log
done
if [ -n "${NNRT_LONG:-}" ]; then
    try 'tests/kit/nnrt.c' clang -std=c99 -O0 -w -DNNRT_CPU_AVX512=0 -DNNRT_CPU_AVX2=0 -I. -c -o ../implementation.o tests/kit/nnrt.c
    for name in session builder hal; do
        with=../implementation.o
        grep -q '^#define NNRT_IMPLEMENTATION' tests/*/test_$name.c && with=
        # shellcheck disable=SC2086  # a file or none
        try "test_$name.c" clang -std=c99 -O0 -w -I. -Itests/kit -o ../cmocka tests/*/test_$name.c $with -lcmocka -lm -lpthread
        ../cmocka >../log 2>&1 && grep -q '^\[  PASSED  \] [1-9]' ../log
        verdict "test_$name.c: run" $? ../log
    done
fi

# vectors FOLDER FILE...: test_ops with the headers in FOLDER passes the vectors of these files
vectors() {
    tcc -std=c99 -w -DNNRT_CPU=0 "-I$1" -Itests/kit -o ../test_ops tests/ops/test_ops.c -lm >../log 2>&1 || return
    shift
    ../test_ops "$@" >../log 2>&1
}
vectors . tests/ops/vectors/*_fusion.vec && grep -q '^[1-9][0-9]* passed, 0 failed' ../log
verdict 'vectors' $? ../log
mkdir ../changed && cp nnrt_ops.h ../changed && sed 's/a <= b/a < b/' nnrt.h >../changed/nnrt.h
! cmp -s nnrt.h ../changed/nnrt.h && ! vectors ../changed tests/ops/vectors/less_equal.vec && grep -q '[1-9][0-9]* failed' ../log
verdict 'vectors: a kernel that was changed in the amalgamation is not noticed' $? ../log
try 'hello' tcc -std=c99 -I. -o ../hello examples/hello.c -lm
try 'hello: run' ../hello examples/digits/digits.onnx
try 'digits' tcc -std=c99 -DSTBI_NO_SIMD -I. -o ../digits examples/digits/digits.c -lm
try 'digits: run' ../digits examples/digits/digits.onnx examples/digits/sheet.png

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
