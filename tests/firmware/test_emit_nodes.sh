#!/bin/sh
# test_emit_nodes.sh: every ONNX node test that can be planned becomes C, and all of them one program. Arguments:
# emit.sh.
set -u
. tests/firmware/emit.sh
data=${NNRT_ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}/node

# The sanitizers see every eighth model: the suites emit-memory, mcu-emit and differential write random ones with them.
headers=''
count=0
left=0
for model in "$data"/test_*/model.onnx; do
    name=${model%/model.onnx}
    name=${name##*/}
    [ ${#name} -le 48 ] || name=long_$((count + left)) # a longer one is refused
    case $(((count + left) % 8)) in 0) program=$sanitized ;; *) program=$plain ;; esac
    ask "$program" emit-c "$model" -o "$folder/$name.h" --name "$name"
    if [ "$got" = 0 ]; then
        headers="$headers $name.h"
        count=$((count + 1))
    else
        left=$((left + 1))
        [ -e "$folder/$name.h" ] && fail "$name could not be written, but left a file"
        [ "$got" = 1 ] || grep -q 'is a sequence of tensors: give each' "$folder/err" || fail "$name: status $got"
    fi
done
[ "$count" -ge 400 ]
verdict "$count node tests became C, expected at least 400" $?
for name in test_range_float_type_positive_delta_expanded test_range_int32_type_negative_delta_expanded; do
    set -- "$data/$name/test_data_set_0" # a loop whose trips are constants
    holds "$name becomes C" asks "$sanitized" emit-c "$data/$name/model.onnx" -o "$folder/$name.h" --name "$name" \
        --input "start=$1/input_0.pb" --input "limit=$1/input_1.pb" --input "delta=$1/input_2.pb"
    headers="$headers $name.h"
    count=$((count + 1))
done
for name in test_if test_scan_sum test_scan9_sum; do
    holds "$name, which has subgraphs, is among them" test -e "$folder/$name.h"
done
# shellcheck disable=SC2086  # several words
program nodes $headers
# shellcheck disable=SC2086
holds "$count node tests compile as C++17" $CXX -std=c++17 $flags -DNNRT_FIRMWARE -fsyntax-only "$folder/nodes.cpp"
for how in "$CC -std=c99" ${NNRT_LONG:+"$CXX -std=c++17"}; do
    file=$folder/nodes.c
    [ "$how" = "$CXX -std=c++17" ] && file=$folder/nodes.cpp
    # shellcheck disable=SC2086
    holds "$count node tests compile with $how" $how $flags -DNNRT_FIRMWARE -o "$folder/nodes" "$file" -lm
    if "$folder/nodes" >"$folder/wrong"; then
        passed=$((passed + count))
    else
        wrong=$(grep -c . "$folder/wrong")
        passed=$((passed + count - wrong))
        failed=$((failed + wrong))
        sed "s/^/FAIL other bits from C ($how): /" "$folder/wrong" | head -n 20
    fi
done
echo "$count node tests became C; $left cannot be imported or planned as they are, see the suite onnx-nodes"

total
