# emit.sh - functions of the suites test_emit_*.sh, read with `.` from the root of the tree: sh
# tests/firmware/test_emit_NAME.sh NNRT [SHIPPED]. They test the output of nnrt emit-c: C that compiles without warnings
# as C99 and C++17, and has the bits of the session on this machine.
#   NNRT     the command line with sanitizers
#   SHIPPED  the same as built for users, for models like those that NNRT writes; without it, NNRT does all
# shellcheck shell=sh disable=SC2034
. tests/kit/verdict.sh
. tests/kit/commands.sh
nnrt=$1
shipped=${2:-$nnrt}
sanitized=$(commands_of "$nnrt")
plain=$(commands_of "$shipped")
python=${PYTHON:-/usr/bin/python3}
CC=${CC:-cc}
CXX=${CXX:-g++}
digits=examples/digits/digits.onnx
# Emitted code does not use the fast device, which takes half of the compile time.
flags="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I. -I$folder -O0 -DNNRT_CPU=0"
# Emitted code needs the implementation in the same file, so each program compiles it. clang does so in a third of gcc's
# time, and with NNRT_STATIC in a second, as it leaves out the functions that the models do not call. $CC and $CXX
# compile the program of all node tests, $CC also one with -Os.
fast='clang -std=c99' fastxx='clang++ -std=c++17'
firmware='-DNNRT_STATIC -DNNRT_FIRMWARE'
checked='-fsanitize=address,undefined -fno-sanitize-recover=all'

# refuses STATUS TEXT ARGUMENT...: emit-c ends with this status, and says so in these words
refuses() {
    want=$1 text=$2
    shift 2
    ask "$sanitized" emit-c "$@"
    if [ "$got" = "$want" ] && grep -q -e "$text" "$folder/err"; then pass; else fail "emit-c $*: status $got, expected $want and '$text':"; fi
}

# lacks NAME FILE PATTERN...: no line of the file matches one of these
lacks() {
    what=$1 file=$2
    shift 2
    for pattern in "$@"; do
        ! grep -E -e "$pattern" "$file" >"$folder/log"
        verdict "$what: $pattern" $? "$folder/log"
    done
}

# program NAME FILE...: a C program that runs the self-test of each model, whose header is FILE in $folder; also as C++
program() {
    name=$1
    shift
    {
        printf '#define NNRT_IMPLEMENTATION\n#include "nnrt.h"\n#include <stdio.h>\n'
        printf '#include "%s"\n' "$@"
        printf 'static uint64_t arena[1 << 20];\nint main(void)\n{\n    int wrong = 0;\n'
        printf '%s\n' "$@" | awk '{
            sub(/[.]h$/, "")
            printf "    if (%s_ARENA_BYTES > sizeof(arena) || %s_selftest(arena) != NNRT_SUCCESS)\n", toupper($0), $0
            printf "        wrong += printf(\"%s\\n\") > 0;\n", $0
        }'
        printf '    return wrong > 0;\n}\n'
    } >"$folder/$name.c"
    cp "$folder/$name.c" "$folder/$name.cpp"
}
