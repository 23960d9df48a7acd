#!/bin/sh
# analyze.sh FOLDER: clang-tidy (checks: .clang-tidy), gcc's -fanalyzer and cppcheck over the headers,
# the importer and the command line; no finding is allowed. Prints "N passed, N failed" at the end.
#
# The analyzers do not follow functions with variable arguments, and assume that nnrt_error_set, which returns its argument
# code, may return NNRT_SUCCESS after an error. FOLDER gets copies in which a macro that evaluates to the code replaces the
# calls. Line numbers do not change.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$1
passed=0 failed=0

rm -rf "$folder"
mkdir -p "$folder"
cd "$root" || exit 1
for file in nnrt*.h core/*.h devices/*.h formats/*.h compat/*.h compat/*/*.h tools/*.c tools/*/*.h; do
    mkdir -p "$folder/$(dirname "$file")"
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
for header in nnrt_ops.h core/nnrt_plan.h nnrt.h; do
    printf '#define NNRT_IMPLEMENTATION\n#include "%s"\n' $header >"whole_$(basename $header .h).c"
done

# try NAME COMMAND...: ends with status 0 and finds nothing.
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

for unit in tools/nnrt.c; do
    try "clang-tidy $unit" clang-tidy --quiet $unit -- -std=c99 -I. -include told.h
done

# Without these limits gcc 12 does not end on the kernels (more than nine minutes); with them it takes seconds. A kernel gets
# NULL for an optional operand that is absent; gcc cannot know that nnrt_resolve_node ensures required ones: so no
# -Wanalyzer-null-dereference, as kernels are in every unit; clang-tidy checks it there, too. gcc also loses track of blocks
# that a struct owns, and reports them as leaked; address sanitizer and valgrind detect leaks in every suite.
limits='--param analyzer-bb-explosion-factor=1 --param analyzer-max-enodes-per-program-point=2
    --param analyzer-max-recursion-depth=1'
for unit in whole_nnrt_ops.c whole_nnrt_plan.c whole_nnrt.c tools/nnrt.c; do
    # shellcheck disable=SC2086  # several words
    try "gcc -fanalyzer $unit" gcc -std=c99 -O0 -fanalyzer $limits -Wno-analyzer-null-dereference -Wno-analyzer-malloc-leak \
        -I. -include told.h \
        -c -o /dev/null $unit
done

# False positives of cppcheck, with the reasons.
cat >suppressions <<'END'
// nnrti_result reads as many extents as the rank it is given says, here one
objectIndex:nnrt_ops.h
// a step of 0 has been refused by the shape rule
zerodivcond:nnrt_ops.h
// the size that is meant is that of a pointer, which lies in front of the block
pointerSize:core/nnrt_model.h
// only the part that has been written is read: `most` extents
uninitvar:formats/nnrt_onnx.h
// of the two results one is there: a step without a wanted result is dropped
nullPointerRedundantCheck:nnrt_ops.h
// behind a comparison of those bytes; they are not there under NNRT_NO_MESSAGES, where the text is empty
pointerOutOfBounds:formats/nnrt_onnx.h
// nnrti_onnx_emit writes as many results as it is told, here one
objectIndex:formats/nnrt_onnx.h
END
try 'cppcheck tools/nnrt.c' cppcheck -q --std=c99 --enable=warning,portability --inline-suppr --error-exitcode=1 \
    --suppressions-list=suppressions -I. tools/nnrt.c

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
