#!/bin/sh
# The runner of the suites must not call a failure a success: what it does with suites that fail in every way.
set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
export NNRT_SUITE_SECONDS=3
unset NNRT_SUITES

# check WHAT EXPECTED COMMAND...: the suite's counts must be EXPECTED ("passed failed skipped")
check() {
    what=$1 expected=$2
    shift 2
    sh "$here/run_suite.sh" "$folder" suite "$@" >/dev/null 2>&1
    read -r p f s _ <"$folder/suite.txt"
    if [ "$p $f $s" = "$expected" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $what: counts $p $f $s, expected $expected"
    fi
}

check 'all pass' '3 0 0' echo '3 passed, 0 failed'
check 'some skipped' '3 0 2' echo '3 passed, 0 failed, 2 skipped'
check 'with a remark' '3 1 20' echo '3 passed (2 of them twice), 1 failed, 20 skipped'
check 'one fails' '2 1 0' sh -c 'echo "2 passed, 1 failed"; exit 1'
check 'fails with status 0' '2 1 0' echo '2 passed, 1 failed'
check 'counts none failed, ends with status 1' '2 1 0' sh -c 'echo "2 passed, 0 failed"; exit 1'
check 'is killed' '0 1 0' sh -c 'kill -9 $$'
check 'takes too long' '1 1 0' sh -c 'echo "1 passed, 0 failed"; exec sleep 30'
check 'runs nothing' '0 1 0' echo '0 passed, 0 failed'
check 'says nothing' '0 1 0' true
check 'is not there' '0 1 0' ./no-such-program
check 'cmocka passes' '5 0 0' echo '[  PASSED  ] 5 test(s).'
check 'cmocka fails' '4 1 0' printf '%s\n' '[  PASSED  ] 4 test(s).' '[  FAILED  ] 1 test(s), listed below:'
check 'cmocka skips' '4 0 1' printf '%s\n' '[  PASSED  ] 4 test(s).' '[  SKIPPED ] 1 test(s), listed below:'

# says WHAT EXPECTED VARIABLE=VALUE COMMAND...: the first line that is printed of a suite
says() {
    what=$1 expected=$2 set=$3
    shift 3
    got=$(env $set sh "$here/run_suite.sh" "$folder/numbered" suite "$@" | grep -E '^(\[|ok|FAIL)' | sed 's: *(.*::' | tr -s ' ')
    if [ "$got" = "$expected" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $what: '$got', expected '$expected'"
    fi
}

says 'no number' 'ok suite 3 passed, 0 failed' NNRT_SUITES= echo '3 passed, 0 failed'
says 'the first of eleven' '[ 1/11] ok suite 3 passed, 0 failed' NNRT_SUITES=11 echo '3 passed, 0 failed'
says 'the second of eleven' '[ 2/11] FAIL suite 2 passed, 1 failed' NNRT_SUITES=11 echo '2 passed, 1 failed'

# summary WHAT STATUS LAST NAME...
summary() {
    what=$1 status=$2 last=$3
    shift 3
    out=$(sh "$here/run_suite.sh" --summary "$folder" "$@")
    got=$?
    if [ "$got" -eq "$status" ] && [ "$(echo "$out" | tail -n 1)" = "$last" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $what: status $got, last line '$(echo "$out" | tail -n 1)', expected $status and '$last'"
    fi
}

echo '3 0 0 1' >"$folder/good.txt"
echo '2 1 0 1' >"$folder/bad.txt"
summary 'a good suite' 0 '3 passed, 0 failed' good
summary 'a bad one' 1 '5 passed, 1 failed' good bad
summary 'one that was not built' 1 '3 passed, 1 failed' good missing
summary 'nothing' 1 '0 passed, 0 failed'

# The sanitizers: gcc makes the object of the library, clang the programs (the Makefile says why). What goes wrong in either
# ends the program, with these words.
cat >"$folder/part.c" <<'END'
#include <stdlib.h>
int part(int kind, int n, double real);
int part(int kind, int n, double real)
{
    static int table[4];
    int local[4] = {0}, *block = (int *)calloc(4, sizeof(int)), *volatile kept = block, result = 0;
    volatile int at = n;
    switch (kind) {
    case 1: result = kept[at]; break;
    case 2: kept = local, result = kept[at]; break;
    case 3: kept = table, result = kept[at]; break;
    case 4: free(block), result = kept[0], block = NULL; break;
    case 5: result = 2147483647 + at; break;
    case 6: result = 1 << (at + 28); break;
    case 7: result = (int)(real * 1e30); break;
    case 8: block = NULL, kept = NULL; break;
    }
    free(block);
    return result & 1;
}
END
cat >"$folder/main.c" <<'END'
#include <stdlib.h>
#ifdef HERE
#include "part.c"
#else
int part(int kind, int n, double real);
#endif
int main(int argc, char **argv) { return argc < 2 || part(atoi(argv[1]), 4, 1) > 1; }
END
checks='-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer'
# shellcheck disable=SC2086  # several words
gcc -std=c99 $checks -O1 -g1 -c -o "$folder/part.o" "$folder/part.c" &&
    clang -std=c99 $checks -O0 -g1 -o "$folder/apart" "$folder/main.c" "$folder/part.o" &&
    clang -std=c99 $checks -O0 -g1 -DHERE -o "$folder/here" "$folder/main.c"
kind=0
for words in '' heap-buffer-overflow stack-buffer-overflow global-buffer-overflow heap-use-after-free 'signed integer overflow' \
    'shift exponent' 'outside the range of representable' 'detected memory leaks'; do
    for program in apart here; do
        "$folder/$program" $kind >"$folder/log" 2>&1
        status=$?
        if if [ -z "$words" ]; then [ $status -eq 0 ]; else [ $status -ne 0 ] && grep -q "$words" "$folder/log"; fi; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL sanitizers, $program, fault $kind: status $status, expected '$words'"
            head -n 3 "$folder/log"
        fi
    done
    kind=$((kind + 1))
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
