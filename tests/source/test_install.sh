#!/bin/sh
# `make install` and CMake install the same files, pkg-config and find_package find them, and a program needs no others;
# the examples build from it and from the repository; `make uninstall` leaves nothing. Runs in the root of the
# repository, with build/nnrt made; ends with "N passed, N failed".
# shellcheck disable=SC2086  # warnings are several words
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/../kit/verdict.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS CFLAGS PKG_CONFIG_PATH CMAKE_PREFIX_PATH
model=$root/examples/digits/digits.onnx
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'

# says TEXT: the last command printed just that line
says() {
    [ "$(cat "$folder/log")" = "$1" ]
    verdict "expected '$1'" $? "$folder/log"
}

# says_digit: as hello.c said, but for the bytes of the arena, which are others without the fast device
says_digit() {
    [ "$(sed 's/arena: [1-9][0-9]* bytes$/arena/' "$folder/log")" = "${hello%: [1-9]* bytes}" ]
    verdict "expected '$hello', but for its bytes" $? "$folder/log"
}

# same NAME A B: two texts are the same
same() {
    [ "$2" = "$3" ]
    verdict "$1: '$2', expected '$3'" $?
}

cd "$folder" || exit 1
prefix='/opt/a place'
by_make=$folder/make$prefix
by_cmake=$folder/cmake$prefix
(cd "$root" && find nnrt*.h core/*.h formats/*.h devices/*.h compat/*.h compat/*/*.h 2>/dev/null | sed 's:^:include/nnrt/:') >wanted
cat >>wanted <<'END_OF_LIST'
bin/nnrt
share/cmake/nnrt/nnrt-config-version.cmake
share/cmake/nnrt/nnrt-config.cmake
share/doc/nnrt/LICENSE
share/man/man1/nnrt.1
share/pkgconfig/nnrt.pc
END_OF_LIST
released=$(sed -n 's/^#define NNRT_VERSION_[A-Z]* \([0-9][0-9]*\)$/\1/p' "$root/nnrt.h" | paste -s -d . -)
printf 'lib/%s\n' "libneural_network_runtime.so.$released" "libnnadapter.so.$released" >>wanted
sort -o wanted wanted

# ---- make install ----

try 'make install' make -s -C "$root" INSTALLED=build/test -o build/nnrt install PREFIX="$prefix" DESTDIR="$folder/make"
(cd "$by_make" && find . -type f | sed 's:^\./::' | sort) | diff wanted - >log
verdict 'make install: the files' $? log
[ -x "$by_make/bin/nnrt" ] && [ ! -x "$by_make/include/nnrt/nnrt.h" ] && [ -r "$by_make/include/nnrt/nnrt.h" ]
verdict 'make install: modes' $?
try 'the installed command line' "$by_make/bin/nnrt" info "$model"
nm "$by_make/bin/nnrt" >log 2>&1
grep -q 'no symbols' log
verdict 'the installed command line has no symbols' $? log
groff -man -ww -Tutf8 "$by_make/share/man/man1/nnrt.1" >page 2>log && [ ! -s log ] && grep -q quantize page
verdict 'the manual page' $? log

# ---- the shared libraries ----

cat >uses.c <<'END_OF_PROGRAM'
#include <neural_network_runtime/neural_network_runtime.h>
int main(void)
{
    const size_t *ids = 0;
    uint32_t count = 0;
    return OH_NNDevice_GetAllDevicesID(&ids, &count) == OH_NN_SUCCESS && count > 0 ? 0 : 1;
}
END_OF_PROGRAM
for library in neural_network_runtime nnadapter; do
    for name in "lib$library.so" "lib$library.so.0"; do
        same "$name" "$(basename "$(readlink -f "$by_make/lib/$name")")" "lib$library.so.$released"
    done
    same "soname of lib$library.so" "$(objdump -p "$by_make/lib/lib$library.so" | sed -n 's/ *SONAME *//p')" "lib$library.so.0"
done
try 'a program for OpenHarmony' gcc -std=c99 $warnings -I"$by_make/include/nnrt/compat" uses.c -o uses -L"$by_make/lib" -lneural_network_runtime
try 'which needs libneural_network_runtime.so.0 alone' sh -c "rm '$by_make/lib/libneural_network_runtime.so' &&
    LD_LIBRARY_PATH='$by_make/lib' ./uses && objdump -p uses | grep -q 'NEEDED *libneural_network_runtime.so.0$'"
try 'make install again' make -s -C "$root" INSTALLED=build/test -o build/nnrt install PREFIX="$prefix" DESTDIR="$folder/make"
try 'make install where nothing can be made' sh -c "! make -s -C '$root' INSTALLED=build/test -o build/nnrt install PREFIX=/dev/null/x DESTDIR="

# ---- programs, with pkg-config alone ----

one_set='-DNNRT_CPU_AVX512=0 -DNNRT_CPU_AVX2=0' # of instructions: a third of the time

PKG_CONFIG_PATH=$by_make/share/pkgconfig
export PKG_CONFIG_PATH
cp "$root/examples/hello.c" "$root/examples/hello.cpp" .
cat >version.c <<'END_OF_PROGRAM'
#define NNRT_IMPLEMENTATION
#include <nnrt.h>
#include <stdio.h>
int main(void) { return puts(nnrt_version()) < 0; }
END_OF_PROGRAM

eval "set -- $(pkg-config --cflags --libs nnrt)"
try 'version.c with pkg-config' tcc -std=c99 -w -DNNRT_CPU=0 version.c "$@" -o version
try 'version.c' ./version
version=$(cat log)
same 'version of nnrt.pc' "$(pkg-config --modversion nnrt)" "$version"
try 'hello.c with pkg-config' clang -std=c99 $warnings $one_set hello.c "$@" -o hello
try 'hello.c' ./hello "$model"
hello=$(cat log)
echo "$hello" | grep -qE '^largest output: [0-9]; arena: [1-9][0-9]* bytes$'
verdict "hello.c says '$hello'" $?
try 'hello.cpp with pkg-config' clang++ -std=c++17 $warnings -DNNRT_CPU=0 hello.cpp "$@" -o hello_cpp
try 'hello.cpp' ./hello_cpp "$model"
says_digit
try 'hello.cpp without a model' sh -c '! ./hello_cpp'
says 'usage: hello MODEL'
try 'hello.cpp with a file that is not there' sh -c '! ./hello_cpp none.onnx'
grep -q 'none\.onnx' log
verdict 'hello.cpp names the file that is not there' $? log
printf '#include <nnrt/formats/nnrt_onnx.h>\n#include <nnrt/formats/nnrt_tflite.h>\n#include <nnrt/formats/nnrt_gguf.h>\n#include <nnrt/formats/nnrt_safetensors.h>\n#include <nnrt/nnrt_hal.h>\n' >angle.c
try 'headers by the name of their folder' gcc -std=c99 $warnings -I"$by_make/include" -fsyntax-only angle.c
same 'pkg-config names the package of stb_ds.h' "$(pkg-config --print-requires-private nnrt)" stb
unset PKG_CONFIG_PATH
same 'without its folder pkg-config does not find it' "$(pkg-config --modversion nnrt 2>/dev/null)" ''

# The first line of an example says how to compile it, in the root of the repository: so by tcc, and by g++ without making code,
# which would take it 15 s.
for example in hello.c hello.cpp; do
    line=$(sed -n '1s/.* \(c[+c]* -std=.*\) -o hello .*/\1/p' "$root/examples/$example")
    libs=$(sed -n '1s/.* -o hello\(.*\) && .*/\1/p' "$root/examples/$example")
    rm -f hello
    case $example in *.c) line="t$line" more="-o $folder/hello$libs" ;; *) more=-fsyntax-only ;; esac
    # shellcheck disable=SC2086  # a command line of several words
    (cd "$root" && $line -DNNRT_CPU=0 $more) >log 2>&1
    verdict "examples/$example: $line" $? log
    [ "$more" = -fsyntax-only ] && continue
    try "examples/$example, compiled as it says" ./hello "$model"
    says_digit
done

# ---- CMake ----

c=clang
# configure NAME SOURCE BUILD ARGUMENTS...: C by $c, C++ by clang, without the fast device
configure() {
    what=$1 source=$2 build=$3
    shift 3
    try "$what: configure" cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_C_COMPILER=$c -DCMAKE_CXX_COMPILER=clang++ \
        -DCMAKE_C_FLAGS=-DNNRT_CPU=0 -DCMAKE_CXX_FLAGS=-DNNRT_CPU=0 "$@"
}

# The input of examples/cmake: a digit as raw float32; PNG rows as zlib holds them, without filters.
"${PYTHON:-/usr/bin/python3}" - "$root/examples/digits/digit_7.png" seven.f32 <<'END_OF_PROGRAM'
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
at = data.index(b"IDAT")
rows = zlib.decompress(data[at + 4:at + 4 + struct.unpack(">I", data[at - 4:at])[0]])
assert len(rows) == 28 * 29 and not any(rows[::29])
pixels = b"".join(rows[29 * y + 1:29 * y + 29] for y in range(28))
open(sys.argv[2], "wb").write(struct.pack("<784f", *(pixel / 255 for pixel in pixels)))
END_OF_PROGRAM
verdict 'the digit 7 as raw float32' $?

# predicts PROGRAM: it recognizes the 7 in both formats, and refuses invalid input
predicts() {
    for network in "$model" digits.nnrt; do
        try "$1 $network" "$1" "$network" seven.f32
        grep -qE '^7: 0\.[89][0-9]*$|^7: 1\.0000$' log
        verdict "$1 $network: a 7" $? log
    done
    try "$1 with too little" sh -c "! '$1' digits.nnrt wanted"
    try "$1 with too few words" sh -c "! '$1'"
    try "$1 with no model" sh -c "! '$1' seven.f32 seven.f32"
}
try 'digits.nnrt' "$by_make/bin/nnrt" convert "$model" digits.nnrt

configure 'CMake' "$root" b -DCMAKE_INSTALL_PREFIX="$prefix"
try 'CMake: build' cmake --build b
try 'CMake: install' env DESTDIR="$folder/cmake" cmake --install b
"$by_cmake/bin/nnrt" --version >log 2>&1
verdict 'CMake: the installed command line' $? log
same 'the version in CMake' "$(sed -n 's/^CMAKE_PROJECT_VERSION:.*=//p' b/CMakeCache.txt)" "$version"
diff -r "$by_make" "$by_cmake" | grep -vE '(bin/nnrt|lib/lib.*) .* differ$' >log
verdict 'make and CMake install the same files' "$(wc -l <log)" log
(cd "$by_cmake" && find . -type f | sed 's:^\./::' | sort) | diff wanted - >log
verdict 'CMake: the files' $? log

c=tcc # in a fiftieth of the time; some headers of the C library, which the command line needs, are beyond it
# find_package, in a copy that has no repository around it
cp -R "$root/examples/cmake" example
configure 'find_package' example found -DCMAKE_PREFIX_PATH="$by_make"
same 'where find_package found it' "$(sed -n 's/^nnrt_DIR:PATH=//p' found/CMakeCache.txt)" "$by_make/share/cmake/nnrt"
try 'find_package: build' cmake --build found
predicts "$folder/found/predict"
try 'no package and no repository' sh -c "! cmake -S example -B lost"

# add_subdirectory, where the package is not looked for
configure 'add_subdirectory' "$root/examples/cmake" sub -DCMAKE_DISABLE_FIND_PACKAGE_nnrt=ON
try 'add_subdirectory: build' cmake --build sub
try 'add_subdirectory' sub/predict "$model" seven.f32
[ ! -e sub/nnrt/nnrt ] && [ ! -e sub/nnrt/nnrt.pc ]
verdict 'add_subdirectory builds the example alone' $?

# FetchContent, for a project in C++ alone
mkdir fetch && cat >fetch/CMakeLists.txt <<'END_OF_PROJECT'
cmake_minimum_required(VERSION 3.14)
project(fetch LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(nnrt URL none.tar.gz)
FetchContent_MakeAvailable(nnrt)
add_executable(fetch hello.cpp)
target_link_libraries(fetch PRIVATE nnrt::nnrt)
set_target_properties(fetch PROPERTIES CXX_STANDARD 17)
END_OF_PROJECT
cp hello.cpp fetch
configure 'FetchContent' fetch fetched -DFETCHCONTENT_SOURCE_DIR_NNRT="$root"
try 'FetchContent: build' cmake --build fetched
try 'FetchContent' fetched/fetch "$model"
says_digit

# wants STATUS VERSION... : find_package with this version finds it (0) or not (1)
wants() {
    status=$1
    shift
    rm -rf asks asked
    mkdir asks
    printf 'cmake_minimum_required(VERSION 3.14)\nproject(asks NONE)\n' >asks/CMakeLists.txt
    echo "find_package(nnrt $* REQUIRED)" >>asks/CMakeLists.txt
    cmake -S asks -B asked -DCMAKE_PREFIX_PATH="$by_make" >log 2>&1
    same "find_package(nnrt $*): status" $? "$status"
}
major=${version%%.*}
minor=${version#*.} minor=${minor%.*}
wants 0 "$version"
wants 0 "$version" EXACT
wants 0 "$major.$minor"
wants 1 "$major.$((minor + 1))"
wants 1 "$((major + 1)).0"
wants 1 "$version.1" EXACT
header=$by_make/include/nnrt/nnrt.h
sed -i 's/^\(#define NNRT_VERSION_MAJOR\) .*/\1 3/; s/^\(#define NNRT_VERSION_MINOR\) .*/\1 12/' "$header"
wants 0 3.4
wants 0 3
wants 1 3.13
wants 1 2.9
sed -i 's/^\(#define NNRT_VERSION_MAJOR\) .*/\1 0/' "$header"
wants 0 0.12
wants 1 0.1
wants 1 0.4
rm "$header"
wants 1

# ---- make uninstall ----

try 'make install once more' make -s -C "$root" INSTALLED=build/test -o build/nnrt install PREFIX="$prefix" DESTDIR="$folder/make"
echo mine >"$by_make/include/nnrt/mine.h"
try 'make uninstall' make -s -C "$root" uninstall PREFIX="$prefix" DESTDIR="$folder/make"
same 'what is left' "$(cd "$by_make" && find . -type f)" ./include/nnrt/mine.h
rm "$by_make/include/nnrt/mine.h"
try 'make uninstall again' make -s -C "$root" uninstall PREFIX="$prefix" DESTDIR="$folder/make"
same 'folders that are left' "$(find "$by_make" -name '*nnrt*')" ''

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
