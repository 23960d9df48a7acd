#!/bin/sh
# test_lib.sh LIBRARY: libneural_network_runtime.so shows the linker the functions that OpenHarmony's headers declare, all of
# them and nothing else; examples/ohnn, which includes these headers as on OpenHarmony, compiles as C and as C++ without a
# warning, runs with the library, and with nnrt_ohnn.h in the program. Runs from anywhere; ends with "N passed, N failed".
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
library=$(cd "$(dirname "$1")" && pwd)/${1##*/}
. "$(dirname "$0")/verdict.sh"
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'

cd "$folder" || exit 1
grep -hoE 'OH_NN[A-Za-z]+_[A-Za-z0-9]+\(' "$root"/compat/neural_network_runtime/neural_network_*.h | tr -d '(' | sort -u >declared
nm -D --defined-only "$library" | awk '{ print $NF }' | sort >shown
[ "$(wc -l <declared)" -eq 75 ]
verdict 'the headers declare 75 functions' $? declared
diff declared shown >log
verdict 'the library shows the functions of the headers, and nothing else' $? log
readelf -d "$library" | grep -q 'SONAME.*libneural_network_runtime\.so\]' >log
verdict 'the library has its name inside' $?
nm -D --undefined-only "$library" | awk '{ print $NF }' | sed 's:@.*::' |
    grep -xE 'abort|exit|_exit|__assert_fail|v?printf|puts|putchar|perror|raise|stdout|stderr' >log
verdict 'the library calls nothing that ends the program or prints' "$(wc -l <log)" log

wanted='auto_nnrt_v2_0: 1 2 3 4 5 0; average: 2 3' # relu({0..5} + {1,1,1,1,1,-9}), means of the rows, by hand
printf '#define NNRT_IMPLEMENTATION\n#include "nnrt_ohnn.h"\n' >implementation.c
try 'nnrt_ohnn.h' gcc -std=c99 -O0 -w -I"$root/compat" -c -o implementation.o implementation.c
for compiler in gcc clang g++ clang++; do
    case $compiler in *++) how='-x c++ -std=c++17' ;; *) how='-x c -std=c99' ;; esac
    for with in library implementation; do
        case $with in library) what=$library ;; *) what=implementation.o ;; esac
        rm -f program
        # shellcheck disable=SC2086  # flags are several words
        try "the example with the $with, $compiler" $compiler $how $warnings -I"$root/compat" -o program \
            "$root/examples/ohnn/ohnn.c" -x none "$what" -Wl,-rpath,"${library%/*}" -lm
        [ "$(./program 2>&1)" = "$wanted" ]
        verdict "the example with the $with, $compiler: prints '$wanted'" $?
    done
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
