#!/bin/sh
# run_suite.sh FOLDER NAME COMMAND...    runs one suite of tests; FOLDER gets NAME.log (what it printed) and NAME.txt
#                                        ("passed failed skipped seconds"); prints a line, and the log when it failed.
#                                        With NNRT_SUITES the line begins with "[n/NNRT_SUITES]": the n-th to end.
# run_suite.sh --summary FOLDER NAME...  prints a line a suite and last "N passed, N failed"; status 0 only when nothing
#                                        failed and every suite ran and passed something.
#
# A suite says how it went as cmocka does, or with a last line "N passed, N failed[, N skipped]". One that
# ends with a status other than 0, says nothing, runs nothing or takes NNRT_SUITE_SECONDS (1200) has failed, whatever it
# counted.
set -u

# count LOG: "passed failed skipped" of a suite's output
count() {
    awk '
    /^[0-9]+ passed.* [0-9]+ failed/ {
        last = 1
        p = f = s = 0
        for (i = 2; i <= NF; i++) {
            if ($i ~ /^passed,?$/) p = $(i - 1)
            if ($i ~ /^failed,?$/) f = $(i - 1)
            if ($i ~ /^skipped,?$/) s = $(i - 1)
        }
    }
    /^\[  PASSED  \] [0-9]+ test/ { cp += $4 }
    /^\[  FAILED  \] [0-9]+ test/ { cf += $4 }
    /^\[  SKIPPED \] [0-9]+ test/ { cs += $4 }
    END { if (last) print p + 0, f + 0, s + 0; else print cp + 0, cf + 0, cs + 0 }' "$1"
}

line() { # name passed failed skipped seconds
    printf '%-4s %-14s %6d passed, %d failed%s  (%d s)\n' "$(if [ "$3" -eq 0 ]; then echo ok; else echo FAIL; fi)" \
        "$1" "$2" "$3" "$(if [ "$4" -gt 0 ]; then echo ", $4 skipped"; fi)" "$5"
}

summary() {
    folder=$1
    shift
    passed=0 failed=0
    echo
    for name in "$@"; do
        if [ -f "$folder/$name.txt" ]; then
            read -r p f s t <"$folder/$name.txt"
            line "$name" "$p" "$f" "$s" "$t"
        else
            p=0 f=1
            printf 'FAIL %-14s was not built\n' "$name"
        fi
        passed=$((passed + p)) failed=$((failed + f))
    done
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

if [ "$1" = --summary ]; then
    shift
    summary "$@"
    exit
fi

folder=$1 name=$2
shift 2
mkdir -p "$folder"
start=$(date +%s)
limit=''
command -v timeout >/dev/null 2>&1 && limit="timeout -k 10 ${NNRT_SUITE_SECONDS:-1200}"
# shellcheck disable=SC2086  # several words, or none
$limit "$@" >"$folder/$name.log" 2>&1 </dev/null
status=$?
n=''
if [ -n "${NNRT_SUITES:-}" ]; then
    n=1
    until mkdir "$folder/.$n" 2>/dev/null; do n=$((n + 1)); done # no two that end together have the same number
fi
# shellcheck disable=SC2046  # three numbers
set -- $(count "$folder/$name.log")
passed=$1 failed=$2 skipped=$3
if [ "$failed" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$passed" -eq 0 ]; }; then
    failed=1
    echo "the suite ended with status $status after $passed tests" >>"$folder/$name.log"
fi
echo "$passed $failed $skipped $(($(date +%s) - start))" >"$folder/$name.txt"
if [ "$failed" -gt 0 ]; then
    echo "---- $name ----"
    grep -vE '^\[ +(RUN|OK) +\]' "$folder/$name.log" | tail -n 40
fi
[ -z "$n" ] || printf '[%*d/%d] ' "${#NNRT_SUITES}" "$n" "$NNRT_SUITES"
line "$name" "$passed" "$failed" "$skipped" $(($(date +%s) - start))
if [ "$skipped" -gt 0 ]; then # what was left out, and why: a table at the end of the suite's output
    sed -n '/^skipped  because of/,$p' "$folder/$name.log" | sed '$d'
    echo "the whole list is in $folder/$name.log"
fi
exit 0
