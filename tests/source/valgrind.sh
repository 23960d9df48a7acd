#!/bin/sh
# valgrind.sh FOLDER TEST...: runs the tests FOLDER/TEST and the command line FOLDER/nnrt on the digits network under
# valgrind. Use of uninitialized memory, which the sanitizers of make test do not detect, and leaked memory
# fail. Prints "N passed, N failed" at the end; status 1 if something failed.
set -u
folder=$1
shift
digits=examples/digits
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

# try NAME COMMAND...: the command ends with status 0 and valgrind says nothing.
try() {
    name=$1
    shift
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible \
        --log-file="$tmp/valgrind" "$@" >"$tmp/out" 2>&1 </dev/null
    status=$?
    if [ $status -eq 0 ] && [ ! -s "$tmp/valgrind" ]; then
        passed=$((passed + 1))
        echo "PASS $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name: status $status"
        tail -n 5 "$tmp/out"
        head -n 40 "$tmp/valgrind"
    fi
}

for test in "$@"; do
    case $test in
    test_ops) try "$test" "$folder/$test" tests/ops/vectors/*.vec ;;
    *) try "$test" "$folder/$test" ;;
    esac
done

nnrt=$folder/nnrt
try 'nnrt info' "$nnrt" info $digits/digits.onnx
try 'nnrt convert' "$nnrt" convert $digits/digits.onnx "$tmp/digits.nnrt"
try 'nnrt info of a .nnrt file' "$nnrt" info "$tmp/digits.nnrt"
for number in 0 1 2 3 4 5 6 7 8 9; do
    for model in $digits/digits.onnx "$tmp/digits.nnrt"; do
        try "nnrt run ${model##*/} on a $number" "$nnrt" run "$model" --input $digits/digit_$number.png --top 1
        grep -q "^ *$number " "$tmp/out" || try "a $number is seen as $(head -n 1 "$tmp/out")" false
    done
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
