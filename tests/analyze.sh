#!/bin/sh
# analyze.sh FOLDER: clang-tidy (.clang-tidy says with which checks), gcc's -fanalyzer and cppcheck over the three headers,
# the importer and the command line; no finding is allowed. Prints "N passed, N failed" at the end.
#
# The analysers do not follow a function with variable arguments, and so believe that nnrt_error_set, which returns the
# code it is given, may return NNRT_SUCCESS after a fault. FOLDER gets copies in which that is told: the calls are those
# of a macro that ends in the code. Lines keep their numbers.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
passed=0 failed=0

rm -rf "$folder"
mkdir -p "$folder/formats" "$folder/tools"
cd "$root" || exit 1
for file in nnrt_ops.h nnrt_hal.h nnrt.h formats/*.h tools/*.h tools/*.c; do
    sed -e 's/return nnrt_error_set(/return NNRTA_ERROR(/' -e 's/return nnrti_fail(/return NNRTA_FAIL(/' \
        -e 's/return cli_fail(/return CLIA_FAIL(/' "$file" >"$folder/$file"
done
cp .clang-tidy "$folder"
cat >"$folder/told.h" <<'END'
#define NNRTA_ERROR(error, code, ...) (nnrt_error_set(error, code, __VA_ARGS__), (code))
#define NNRTA_FAIL(c, code, ...) (nnrti_fail(c, code, __VA_ARGS__), (code))
#define CLIA_FAIL(...) (cli_fail(__VA_ARGS__), CLI_FAILED)
END
cd "$folder" || exit 1
for header in nnrt_ops nnrt_hal nnrt; do
    printf '#define NNRT_IMPLEMENTATION\n#include "%s.h"\n' $header >whole_$header.c
done

# try WHAT COMMAND...: ends with status 0 and finds nothing.
try() {
    what=$1
    shift
    start=$(date +%s)
    "$@" >log 2>&1
    status=$?
    if [ $status -eq 0 ] && ! grep -qE '(warning|error|style|portability|performance): ' log; then
        passed=$((passed + 1))
        echo "PASS $what ($(($(date +%s) - start)) s)"
    else
        failed=$((failed + 1))
        echo "FAIL $what: status $status"
        grep -E -A 4 '(warning|error|style|portability|performance): ' log | head -n 120
    fi
}
