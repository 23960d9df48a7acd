#!/bin/sh
# tests/kit/coverage.py for programs that share a header: copies of a function are merged, copies that a program does not use do
# not count, a function that a macro defines twice counts twice, errors end with status 1.
# usage: test_coverage.sh      run from anywhere; ends with "N passed, N failed"
set -u
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-/usr/bin/python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

cat >"$folder/part.h" <<'END'
static inline __attribute__((always_inline, unused)) int larger(int a, int b)
{
    if (a > b)
        return a;
    return b;
}
static __attribute__((unused)) int sign(int a)
{
    if (a > 0)
        return 1;
    if (a < 0)
        return -1;
    return 0;
}
static __attribute__((unused)) int never(int a) { return a; }
#define TWICE(name, T) static __attribute__((unused)) int name(T a) { if (a > 0) return 1; return 0; }
#define BOTH TWICE(of_int, int) TWICE(of_long, long)
BOTH
END

# program NAME EXPRESSION: compiles and runs a program that includes the header and evaluates the expression
program() {
    printf '#include "part.h"\nint main(int n, char **v) { (void)v; return (%s) * 0; }\n' "$2" >"$folder/$1.c"
    (cd "$folder" && mkdir -p bin && gcc -O0 --coverage -Dalways_inline=noinline -w -o "bin/$1" "$1.c" && "bin/$1")
}

# check NAME STATUS PATTERN ARGUMENTS...: coverage.py on the built programs ends with STATUS, and prints a line that matches
check() {
    what=$1 status=$2 pattern=$3
    shift 3
    "$python" "$here/coverage.py" --root "$folder" "$@" bin part.h >"$folder/out" 2>&1
    got=$?
    if [ "$got" -eq "$status" ] && grep -Eq "$pattern" "$folder/out"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $what: status $got, expected $status and a line $pattern"
        head -n 8 "$folder/out"
    fi
}

# reasons TEXT: contents of the file of reasons
reasons() {
    printf '# a comment\n%b\n' "$1" >"$folder/reasons"
}

check 'nothing was measured' 1 'part.h: nothing was measured'
program first 'sign(n) + of_int(n)' # 1 of 4 branches of sign, 1 of 2 of of_int, none of 2 of of_long; no larger
check 'one program' 1 '^part.h .* 8 +25.0 %'
program second 'sign(-n)' # 2 more of sign
check 'a second program takes other branches' 1 '^part.h .* 8 +50.0 %'
check 'a lower floor holds' 0 '^coverage: part.h [0-9.]+ % lines 50.0 % branches$' --floor 50
check 'a higher one does not' 1 'part.h: fewer than 51 % of its branches' --floor 51
program third 'sign(0) + of_int(-n) + of_long(n)' # 1 more of sign and of of_int, 1 of of_long
check 'what a macro made twice counts twice' 1 '^part.h .* 8 +87.5 %'
program fourth 'larger(n, 0) + larger(0, n) + larger(n, n)' # 2 of larger
check 'a function that is inlined everywhere counts once' 0 '^part.h .* 10 +90.0 %'
check 'what is left is named' 0 . --uncovered left
grep -q '^part.h:of_long  1 (0 excused)$' "$folder/left" && passed=$((passed + 1)) ||
    { failed=$((failed + 1)); echo 'FAIL the list lacks of_long'; }

reasons 'part.h:of_long  1  long is never negative'
check 'a reason is counted' 0 '^ +1  long is never negative$' --reasons reasons
check 'it stands in the table, too' 0 '^part.h .* 90.0 % +1 +100.0 %$' --reasons reasons
check 'and lifts no floor' 1 'fewer than 91 %' --reasons reasons --floor 91
reasons 'part.h:of_long  2  long is never negative'
check 'a reason for more than is left' 1 'reasons:2: part.h:of_long has only 1 branches uncovered, not 2' --reasons reasons
reasons 'part.h:sign  1  no sign'
check 'a reason for what is covered' 1 'reasons:2: part.h:sign has only 0' --reasons reasons
reasons 'part.h:absent  1  gone'
check 'a reason for what is not there' 1 'reasons:2: part.h:absent is not there' --reasons reasons
reasons 'part.h:never  1  gone'
check 'a reason for what has no branches' 1 'reasons:2: part.h:never has only 0' --reasons reasons
reasons 'other.h:sign  1  gone'
check 'a reason for a file that is not measured' 1 'reasons:2: other.h:sign is not there' --reasons reasons
reasons 'part.h:of_long  1'
check 'a reason without words' 1 'reasons:2: not "file:function' --reasons reasons
reasons 'part.h:of_long  1  a\npart.h:of_long  1  b'
check 'two for one function' 1 'reasons:3: part.h:of_long stands there twice' --reasons reasons

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
