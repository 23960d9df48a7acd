#!/bin/sh
# test_lib.sh FOLDER: libneural_network_runtime.so and libnnadapter.so in FOLDER export exactly the functions that the
# headers of OpenHarmony and of NNAdapter declare; the programs of examples/ohnn and examples/nnadapter, which include
# these headers like any program, compile as C and as C++ without a warning, run with the library, and with nnrt_ohnn.h
# or nnrt_nnadapter.h in the program. The libraries load drivers, also from FOLDER. Runs from anywhere; ends with "N
# passed, N failed".
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
libraries=$(cd "$1" && pwd)
. "$(dirname "$0")/../kit/verdict.sh"
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'

cd "$folder" || exit 1

# library NAME HEADERS NUMBER FUNCTIONS IMPLEMENTATION
library() {
    library=$libraries/lib$1.so
    # shellcheck disable=SC2086  # headers are several words
    grep -hoE "$4\(" $2 | tr -d '(' | sort -u >declared
    nm -D --defined-only "$library" | awk '{ print $NF }' | sort >shown
    [ "$(wc -l <declared)" -eq "$3" ]
    verdict "$1: the headers declare $3 functions" $? declared
    diff declared shown >log
    verdict "$1: the library shows the functions of the headers, and nothing else" $? log
    readelf -d "$library" | grep -q "SONAME.*lib$1\.so\.0\]" >log
    verdict "$1: the library has its name and version inside" $?
    nm -D --undefined-only "$library" | awk '{ print $NF }' | sed 's:@.*::' |
        grep -xE 'abort|exit|_exit|__assert_fail|v?printf|puts|putchar|perror|raise|stdout|stderr' >log
    verdict "$1: the library calls nothing that ends the program or prints" "$(wc -l <log)" log
    printf '#define NNRT_THREADS 1\n#define NNRT_IMPLEMENTATION\n#include "%s"\n' "$5" >implementation.c
    try "$5" clang -std=c99 -O0 -w -DNNRT_CPU_AVX512=0 -DNNRT_CPU_AVX2=0 -I"$root/compat" -c -o implementation.o implementation.c
}

# example SOURCE OUTPUT: a program, with the library and the implementation that were seen last.
example() {
    for compiler in gcc clang g++ clang++; do
        case $compiler in *++) how='-x c++ -std=c++17' ;; *) how='-x c -std=c99' ;; esac
        for with in library implementation; do
            case $with in library) what=$library ;; *) what=implementation.o ;; esac
            rm -f program
            # shellcheck disable=SC2086  # flags are several words
            try "$1 with the $with, $compiler" $compiler $how $warnings -I"$root/compat" -o program \
                "$root/$1" -x none "$what" -Wl,-rpath,"$libraries" -lm
            [ "$(./program 2>&1)" = "$2" ]
            verdict "$1 with the $with, $compiler: prints '$2'" $?
        done
    done
}

library neural_network_runtime "$root/compat/neural_network_runtime/neural_network_core.h \
    $root/compat/neural_network_runtime/neural_network_runtime.h" 75 'OH_NN[A-Za-z]+_[A-Za-z0-9]+' nnrt_ohnn.h
# relu({0..5} + {1,1,1,1,1,-9}), means of the rows, by hand
example examples/ohnn/ohnn.c 'auto_nnrt_v2_0: 1 2 3 4 5 0; average: 2 3'
# relu of 1.75 + 0.25, 1.25 + 0.25, -3 + 1
example examples/ohnn/quantized.c '-6 stands for 2, -7 stands for 1.5, -10 stands for 0'
example examples/ohnn/dynamic.c '1x2: 1 10
2x2: 1 10 2 20
3x2: 1 10 2 20 3 30'
# relu of 4 + 4 - 2 + 0.5, 12 + 2 + 1 - 1; the cache then exists, and the second start of each uses it
example examples/ohnn/guide.c 'first start: 6.5 14
second start: 6.5 14'
[ -s 0.nncache ] && [ -s cache_info.nncache ]
verdict 'examples/ohnn/guide.c: the model is in the cache' $?
NNRT_OHNN_LOG=log ./program >told
grep -q "^nnrt: device 'cpu_nnrt_v1_0' has restored its prepared form$" log && grep -q '^second start: 6.5 14$' told
verdict 'examples/ohnn/guide.c: the device takes it from there, which the log says' $? log
library nnadapter "$root/compat/nnadapter/nnadapter.h" 28 'NNAdapter[A-Za-z]*_[a-z][A-Za-z0-9]+' nnrt_nnadapter.h
# max(2 * cell - right - below, 0), by hand
example examples/nnadapter/nnadapter.c 'builtin_device: 2x2: 0 0 0 10 1x3: 0 3 0'

# ---- drivers: libplain_npu.so, of NNAdapter, and libtable_npu.so, a device table, are in the folder of the libraries ----

cat >list.c <<'END'
#include <stdio.h>
#include <unistd.h>
#include <neural_network_runtime/neural_network_runtime.h>
int main(void)
{
    const size_t *ids = NULL;
    uint32_t count = 0;
    OH_NNDevice_GetAllDevicesID(&ids, &count);
    printf("%s", getuid() != geteuid() ? "setuid" : "");
    for (uint32_t i = 0; i < count; i++) {
        const char *name = NULL;
        OH_NNDevice_GetName(ids[i], &name);
        printf(" %s", name);
    }
    return 0;
}
END
# --disable-new-dtags: the path is searched for the libraries of the library, too, and in setuid programs
try 'list.c' gcc -std=c99 $warnings -I"$root/compat" -o list list.c "$libraries/libneural_network_runtime.so" \
    -Wl,--disable-new-dtags,-rpath,"$libraries"
# listed NAME DRIVERS WANT: the registered devices except the built-in ones
listed() {
    NNRT_DRIVERS=$2 ./list 2>&1 | sed 's/auto_nnrt_v2_0 reference_nnrt_v2_0//; s/ cpu_nnrt_v1_0//; s/^ *//; s/ *$//' >log
    [ "$(cat log)" = "$3" ]
    verdict "NNRT_DRIVERS: $1" $? log
}
listed 'without drivers' '' ''
listed 'a device table and a driver of NNAdapter' table_npu:plain_npu 'table_npu_tests_v1_0 plain_npu_tests_v3_0'
listed 'one that is not there keeps nobody out' none:table_npu:table_npu table_npu_tests_v1_0
mkdir libx # "x/table_npu" would name a file in it
cp "$libraries/libtable_npu.so" libx/table_npu.so
cp "$libraries/libplain_npu.so" libx
listed 'a name with /' x/table_npu:x/libplain_npu ''
if [ "$(id -u)" -eq 0 ] && chown 65534 list && chmod 4755 list && ./list | grep -q '^setuid'; then
    listed 'nothing is loaded into a setuid program' table_npu 'setuid'
else
    echo 'skipped: setuid programs need root, and a file system that has them'
fi

cat >acquire.c <<'END'
#include <stdio.h>
#include <nnadapter/nnadapter.h>
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        NNAdapterDevice *device = NULL;
        const char *vendor = "";
        int code = NNAdapterDevice_acquire(argv[i], &device);
        if (code == NNADAPTER_NO_ERROR)
            NNAdapterDevice_getVendor(device, &vendor);
        printf("%d%s ", code, vendor);
        NNAdapterDevice_release(device);
    }
    return 0;
}
END
try 'acquire.c' gcc -std=c99 $warnings -I"$root/compat" -o acquire acquire.c "$libraries/libnnadapter.so" -Wl,-rpath,"$libraries"
# acquired NAME WANT DEVICES...: codes and vendors; 4 is DEVICE_NOT_FOUND
acquired() {
    name=$1
    want=$2
    shift 2
    ./acquire "$@" >log 2>&1
    [ "$(cat log)" = "$want" ]
    verdict "NNAdapterDevice_acquire: $name" $? log
}
LD_LIBRARY_PATH=$libraries
export LD_LIBRARY_PATH
acquired "a driver's library is loaded once" '0tests 0tests 0nnrt ' plain_npu plain_npu builtin_device
acquired 'no such library, no driver in it, and no name' '4 4 4 ' none table_npu ''
unset LD_LIBRARY_PATH
acquired 'a library that the loader does not find' '4 ' plain_npu
acquired 'a name with / loads nothing' '4 4 ' x/libplain_npu plain_npu

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
