#!/bin/sh
# test_packages.sh NNRT PART... : the archives of tools/packages.py, used as their ecosystems use them: each is unpacked into an
# empty folder, and its own build tool builds a program from it. NNRT is the command line. PARTs are the functions part_PART below; the
# suite packages runs the quick ones, `make packages-test` all. Ends with "N passed, N failed".
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
nnrt=$(realpath "$1")
shift
. "$(dirname "$0")/../kit/verdict.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS CFLAGS CPPFLAGS
python=${PYTHON:-/usr/bin/python3}
model=$root/examples/digits/digits.onnx
CC=clang # without optimization and the device cpu: a fraction of the time
quick='-O0 -w -DNNRT_CPU=0'
export CC
cd "$folder" || exit 1

# write FOLDER: all archives
write() {
    try "the packages in $1" "$python" -B "$root/tools/packages.py" --nnrt "$nnrt" "$1"
}
archives=$folder/archives
write "$archives"
version=$("$python" -B "$root/tools/packages.py" --list | sed -n 's/^meson nnrt-\(.*\)-meson.tar.gz$/\1/p')

# unpack PACKAGE: its archive in the folder PACKAGE
unpack() {
    file=$archives/$("$python" -B "$root/tools/packages.py" --only "$1" --list | cut -d ' ' -f 2)
    mkdir -p "$1"
    case $file in
    *.zip | *.pack) try "$1: unpack" "$python" -m zipfile -e "$file" "$1" ;;
    *) try "$1: unpack" tar -C "$1" -xf "$file" ;;
    esac
}

# program FILE: hello.c for a compiled library
program() {
    sed '/define NNRT_IMPLEMENTATION/d; s:"formats/nnrt_onnx.h":<nnrt_onnx.h>:' "$root/examples/hello.c" >"$1"
}


# says NAME COMMAND... : the program prints the output of hello.c for the digits network, perhaps without the arena
says() {
    what=$1
    shift
    "$@" "$model" >log 2>&1 && grep -qE '^largest output: [0-9](; arena: [1-9][0-9]* bytes)?$' log
    verdict "$what: $*" $? log
}

# ---- the files ----

# Two builds, at another time and in another time zone, have the same bytes.
part_same() {
    sleep 1
    before=$(umask)
    umask 077
    export TZ=Asia/Tokyo
    write again
    umask "$before"
    unset TZ
    diff -r "$archives" again >log
    verdict 'two builds of the archives are the same' $? log
    SOURCE_DATE_EPOCH=1000000000 "$python" -B "$root/tools/packages.py" --nnrt "$nnrt" --only meson earlier >log 2>&1
    tar -tvf "earlier/nnrt-$version-meson.tar.gz" | grep -qE '^-rw-r--r-- 0/0 +[0-9]+ 2001-09-09'
    verdict 'SOURCE_DATE_EPOCH is the time of the files' $?
}

# The manifests follow the published rules of their formats; no template states the version or has more than 40 lines.
part_rules() {
    "$python" -B "$root/tests/source/packages_rules.py" "$archives" >log 2>&1
    status=$?
    passed=$((passed + $(grep -c '^ok' log)))
    grep '^FAIL' log
    failed=$((failed + $(grep -c '^FAIL' log)))
    [ $status -eq 0 ] || grep -q '^FAIL' log
    verdict 'packages_rules.py' $? log
}

# ---- with the tools of the ecosystem ----

part_meson() {
    mkdir -p uses/subprojects/packagefiles
    program uses/hello.c
    cp "$archives/nnrt.wrap" uses/subprojects
    cp "$archives/nnrt-$version-meson.tar.gz" uses/subprojects/packagefiles
    cat >uses/meson.build <<'END_OF_PROJECT'
project('uses', 'c')
executable('hello', 'hello.c', dependencies: dependency('nnrt', version: '>=0.1'))
END_OF_PROJECT
    try 'meson: setup' meson setup -Dbuildtype=plain "-Dc_args=$quick" build-meson uses
    try 'meson: compile' ninja -C build-meson
    says 'meson: a program' build-meson/hello
    printf 'changed' >>"uses/subprojects/packagefiles/nnrt-$version-meson.tar.gz"
    rm -r "uses/subprojects/nnrt-$version"
    try 'meson refuses an archive with another checksum' sh -c '! meson setup build-changed uses'
}

part_cargo() {
    unpack rust
    mkdir -p crate/src
    cat >crate/Cargo.toml <<END_OF_MANIFEST
[package]
name = "hello"
version = "0.0.0"
edition = "2021"
[dependencies]
nnrt-sys = { path = "../rust/nnrt-sys-$version" }
END_OF_MANIFEST
    cp "$root/tests/source/packages/hello.rs" crate/src/main.rs
    export CARGO_HOME="$folder/cargo-home" CARGO_NET_OFFLINE=true CFLAGS="$quick"
    try 'cargo: build' env -C crate cargo build
    says 'cargo: a program' crate/target/debug/hello
    try 'cargo: an error is a sentence' sh -c "! crate/target/debug/hello none.onnx 2>said && grep -q none.onnx said"
    unset CFLAGS
}

# The sketch, by the compilers that Arduino's builder calls: for a board, and here with board.cpp instead of a core.
part_arduino() {
    unpack arduino
    sketch=arduino/nnrt/examples/digits
    flags="-w -fno-exceptions -fno-rtti -ffunction-sections -fdata-sections -Iarduino/nnrt/src -I$sketch"
    [ "$(wc -l <"$sketch/digits.ino")" -le 15 ]
    verdict 'the sketch has at most 15 lines' $?
    for standard in gnu++11 gnu++17; do
        # shellcheck disable=SC2086  # several words
        try "the sketch for a Cortex-M4, $standard" arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb -Os -std=$standard $flags \
            -c -o board.o "$root/tests/source/packages/board.cpp"
    done
    size=$(arm-none-eabi-size board.o | awk 'NR == 2 { print $1 }')
    [ "${size:-999999}" -lt 40000 ] # 22 KB of it are weights
    verdict "the sketch has $size bytes of code and constants, at most 40,000 expected" $?
    # shellcheck disable=SC2086
    try 'the sketch here' "${CXX:-g++}" -std=gnu++11 -O1 $flags -o board "$root/tests/source/packages/board.cpp"
    try 'the sketch finds the seven' sh -c './board | grep -x "a seven"'
}

# The sketch by Arduino's builder, for a Cortex-M4 that qemu runs. The core is tests/source/packages/board with the startup code of
# examples/firmware; Debian's only core, for AVR, is refused because an int has 16 bits there.
part_arduino_builder() {
    unpack arduino
    sketch=arduino/nnrt/examples/digits/digits.ino
    core=hardware/nnrt/qemu
    mkdir -p hardware/nnrt build-arduino build-avr
    cp -R "$root/tests/source/packages/board" $core
    cp "$root"/examples/firmware/board.h "$root"/examples/firmware/start.c $core/cores/board
    set -- arduino-builder -compile -hardware /usr/share/arduino-builder -hardware /usr/share/arduino/hardware \
        -hardware hardware -tools /usr/bin -libraries arduino -ide-version=10819
    try 'arduino-builder: a Cortex-M4' "$@" -fqbn nnrt:qemu:mps2 -build-path "$folder/build-arduino" \
        "-prefs=linker.script=$root/examples/firmware/arm.ld" $sketch
    cat log
    try 'the sketch in qemu' sh -c 'timeout 60 qemu-system-arm -M mps2-an386 -nographic -semihosting-config enable=on,target=native \
        -kernel build-arduino/digits.ino.elf 2>&1 | grep -x "a seven"'
    ! "$@" -fqbn arduino:avr:mega:cpu=atmega2560 -build-path "$folder/build-avr" $sketch >log 2>&1 && grep -q 'nnrt requires an int of 32 bits' log
    verdict 'arduino-builder: AVR is refused with a sentence' $? log
}

# The library and a program, offline. Bazel 4 of Debian reads no MODULE.bazel: a WORKSPACE replaces it, and the rules are
# Bazel's own, under the names of rules_cc and rules_java.
part_bazel() {
    unpack bazel
    for rules in cc:binary,import,library,test,toolchain,toolchain_suite \
        java:binary,import,library,plugin,test,runtime,toolchain,package_configuration,lite_proto_library,proto_library; do
        language=${rules%%:*}
        mkdir -p "rules_$language/$language" && touch "rules_$language/WORKSPACE" "rules_$language/$language/BUILD"
        echo "${rules#*:}" | tr , '\n' | sed "s/.*/${language}_& = native.${language}_&/" >"rules_$language/$language/defs.bzl"
    done
    mkdir bazel-uses && touch "bazel/nnrt-$version/WORKSPACE"
    program bazel-uses/hello.c
    cat >bazel-uses/WORKSPACE <<END_OF_WORKSPACE
local_repository(name = "nnrt", path = "../bazel/nnrt-$version")
local_repository(name = "rules_cc", path = "../rules_cc")
local_repository(name = "rules_java", path = "../rules_java")
END_OF_WORKSPACE
    echo 'cc_binary(name = "hello", srcs = ["hello.c"], deps = ["@nnrt//:nnrt"])' >bazel-uses/BUILD
    try 'bazel: build' env -C bazel-uses bazel --output_user_root="$folder/bazel-root" --batch build --spawn_strategy=local \
        --copt=-O0 --copt=-w --copt=-DNNRT_CPU=0 //:hello
    says 'bazel: a program' bazel-uses/bazel-bin/hello
    chmod -R u+w bazel-root
}

# Parts of the packages whose own tools Debian does not have, by the tools that those use.
part_formats() {
    for package in vcpkg swift zephyr esp-idf; do
        unpack $package
    done
    port=$folder/vcpkg/nnrt
    try 'vcpkg: the port file, by CMake' cmake "-DCURRENT_PACKAGES_DIR=$folder/vcpkg-tree" -DPORT=nnrt -P "$port/portfile.cmake"
    mkdir vcpkg-uses && cp "$root/examples/hello.c" vcpkg-uses && sed -i 's:formats/::' vcpkg-uses/hello.c
    cat >vcpkg-uses/CMakeLists.txt <<'END_OF_PROJECT'
cmake_minimum_required(VERSION 3.14)
project(uses LANGUAGES C)
find_package(nnrt CONFIG REQUIRED)
add_executable(hello hello.c)
target_link_libraries(hello PRIVATE nnrt::nnrt)
END_OF_PROJECT
    try 'vcpkg: find_package' cmake -S vcpkg-uses -B vcpkg-build "-DCMAKE_PREFIX_PATH=$folder/vcpkg-tree" "-DCMAKE_C_FLAGS=$quick"
    try 'vcpkg: build' cmake --build vcpkg-build
    says 'vcpkg: a program' vcpkg-build/hello
    echo '@import CNnrt; nnrt_io buffer; int version(void) { return nnrt_version()[0] + (nnrt_onnx_load != 0); }' >module.m
    try 'swift: the module map, by clang' clang -fmodules -fmodules-cache-path=modules -Iswift/nnrt/Sources/CNnrt/include -fsyntax-only module.m
    echo 'source "zephyr/nnrt/zephyr/Kconfig"' >Kconfig
    try 'zephyr: Kconfig' "$python" -c "import kconfiglib; one = kconfiglib.Kconfig('Kconfig', warn_to_stderr=False)
one.syms['NNRT'].set_value(2); one.syms['NNRT_MAX_RANK'].set_value('5'); assert one.syms['NNRT_MAX_RANK'].str_value == '5' and not one.warnings"
    cat >component.cmake <<'END_OF_SCRIPT'
function(idf_component_register)
    cmake_parse_arguments(with "" "" "SRCS;INCLUDE_DIRS" ${ARGN})
    if(with_UNPARSED_ARGUMENTS OR NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/esp-idf/nnrt/${with_INCLUDE_DIRS}/nnrt.h")
        message(FATAL_ERROR "${ARGN}")
    endif()
endfunction()
include(esp-idf/nnrt/CMakeLists.txt)
END_OF_SCRIPT
    try 'esp-idf: the component, by CMake' cmake -P component.cmake
}

part_debian() {
    unpack debian
    source=debian/nnrt-$version
    try 'debian: build' env -u CC -C "$source" DEB_BUILD_OPTIONS=noopt dpkg-buildpackage -b -us -uc
    lintian --allow-root --fail-on error,warning debian/*.changes >log 2>&1
    verdict 'lintian' $? log
    for package in "nnrt_${version}_$(dpkg --print-architecture)" "nnrt-dev_${version}_all"; do
        try "unpack $package" dpkg-deb -x "debian/$package.deb" installed
    done
    try 'debian: the command line' sh -c "installed/usr/bin/nnrt --version | grep -F '$version'"
    export PKG_CONFIG_PATH="$folder/installed/usr/share/pkgconfig"
    # shellcheck disable=SC2046  # several words
    try 'debian: a program' clang -w -O0 -DNNRT_CPU=0 -o hello "$root/examples/hello.c" \
        $(pkg-config --define-variable="prefix=$folder/installed/usr" --cflags --libs nnrt)
    says 'debian: a program' ./hello
}

# The wheel that make python built, in a new environment; built again with other permissions, it has the same bytes.
part_wheel() {
    try 'wheel: install' "$python" -m pip install -q --no-deps --no-index --disable-pip-version-check --root-user-action=ignore \
        --target site "$root"/build/python/nnrt-"$version"-*.whl
    try 'wheel: a program' env PYTHONPATH="$folder/site" "$python" -c "import numpy, nnrt
session = nnrt.InferenceSession('$model')
print(session.run(None, {session.get_inputs()[0].name: numpy.zeros((1, 1, 28, 28), numpy.float32)})[0].argmax())"
    grep -qx '[0-9]' log
    verdict 'wheel: the output of the program' $? log
    cp "$root"/build/python/nnrt-"$version"-*.whl .
    try 'wheel: build again' sh -c "umask 077 && env -u CC TZ=Asia/Tokyo make -s -C '$root' -W bindings/python/setup.py -o build/implementation.o python"
    try 'wheel: the same bytes' sh -c "cmp nnrt-$version-*.whl '$root'/build/python/nnrt-$version-*.whl"
}

# The bridge for Java and Kotlin of examples/android, by this machine's JDK instead of Android's.
part_java() {
    jdk=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
    try 'java: the bridge' clang -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -O0 -DNNRT_CPU=0 -fPIC -shared \
        "-I$jdk/include" "-I$jdk/include/linux" "-I$root" -o libnnrt_jni.so "$root/examples/android/nnrt_jni.c" -lm
    try 'java: compile' javac -d classes "$root/examples/android/Nnrt.java" "$root/tests/source/packages/Digits.java"
    says 'java: a program' java "-Djava.library.path=$folder" -Xcheck:jni -cp classes Digits
    grep -q '12 bytes.*3136' log
    verdict 'java: an input that is too short is a sentence' $? log
    java "-Djava.library.path=$folder" -cp classes Digits none.onnx >log 2>&1
    grep -q 'IOException: .*none.onnx' log
    verdict 'java: a file that is not there is an IOException' $? log
}

# The syntax of MSVC, by clang. Debian has the headers of mingw-w64 only.
part_msvc() {
    unpack vcpkg
    cp "$root/tests/source/packages/msvc.c" . # a path that begins with / would be an option
    for language in TC TP; do
        # the device cpu has no instruction set in this mode, and so functions that nothing calls
        for options in -DNNRT_CPU=0 "-DNNRT_CPU=0 -DNNRT_NO_STDIO" "-DNNRT_CPU=1 -Wno-unused-function"; do
            # shellcheck disable=SC2086  # several words
            try "msvc: /$language $options" clang --driver-mode=cl --target=x86_64-pc-windows-msvc -fsyntax-only /W3 -WX \
                /std:c++17 -Wno-unused-command-line-argument -D_CRT_SECURE_NO_WARNINGS $options -Ivcpkg/nnrt/include \
                -imsvc /usr/x86_64-w64-mingw32/include "/$language" msvc.c
        done
    done
}

for part in "$@"; do
    part_"$(echo "$part" | tr - _)"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
