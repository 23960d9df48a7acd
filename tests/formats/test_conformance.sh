#!/bin/sh
# test_conformance.sh DEVICE_VECTORS ONNX_NODES: the suites of DEVICE=NAME, on devices that must pass, so that they keep
# working; and a device whose results exceed its stated error bounds must fail. Runs from the root of the repository.
set -u
vectors=$1 nodes=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

# verdict NAME CONDITION-STATUS
verdict() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1"
        grep -E '^FAIL|Sanitizer|runtime error' "$folder/log" | head -n 10
        tail -n 1 "$folder/log"
    fi
}

# The fast device is the suite cpu-vectors, and by each set of instructions cpu-sets. The other devices have the kernels of the
# reference device: some operators of each kind show the devices' own part; NNRT_LONG=1: all, and the ONNX node tests.
for device in example auto rough split; do
    files=$(ls tests/ops/vectors/[cdgmrst]*.vec)
    [ -z "${NNRT_LONG:-}" ] || files=$(ls tests/ops/vectors/*.vec)
    # shellcheck disable=SC2086  # several files
    "$vectors" $device $files >"$folder/log" 2>&1 &&
        [ "$(tail -n 1 "$folder/log")" = "$(cat $files | grep -c '^case ') passed, 0 failed, 0 skipped" ]
    verdict "vectors on $device" $?
done
# partitions of auto with dynamic dimensions: operators of each kind, whose cases with each set of dimensions left open are many
files=''
for operator in concat conv2d_fusion gather gru matmul_fusion maximum quant_dtype_cast reduce_fusion strided_slice topk_fusion transpose; do
    files="$files tests/ops/vectors/$operator.vec"
done
# shellcheck disable=SC2086
"$vectors" --open split $files >"$folder/log" 2>&1 && grep -q '^[0-9]\{4,\} passed, 0 failed' "$folder/log"
verdict "open vectors on split" $?
"$nodes" --device reference >"$folder/reference" 2>&1
for device in ${NNRT_LONG:+example auto}; do
    "$nodes" --device $device >"$folder/log" 2>&1 && cmp -s "$folder/log" "$folder/reference"
    verdict "ONNX node tests on $device: as on the reference device" $?
done

# fast kernels: as many nodes, whatever their bits
"$nodes" --device cpu >"$folder/log" 2>&1 &&
    [ "$(grep ' passed (' "$folder/log")" = "$(grep ' passed (' "$folder/reference")" ]
verdict 'ONNX node tests on cpu: as many as on the reference device' $?

# These must fail: sums of 10 bits where exact results are required; a device that does not exist; no device.
"$vectors" --exact rough tests/ops/vectors/add_fusion.vec >"$folder/log" 2>&1
[ $? -eq 1 ] && grep -q '^FAIL .*ADD_FUSION .*of the reference device$' "$folder/log"
verdict 'vectors: other bits fail' $?
"$vectors" nobody tests/ops/vectors/add_fusion.vec >"$folder/log" 2>&1
[ $? -eq 2 ] && grep -q "there is no device 'nobody'; tests/kit/devices.h has reference auto example" "$folder/log"
verdict 'vectors: a device that is not there' $?
"$nodes" --device nobody >"$folder/log" 2>&1
[ $? -eq 2 ]
verdict 'ONNX node tests: a device that is not there' $?
"$vectors" >"$folder/log" 2>&1
[ $? -eq 1 ] && grep -q '^usage: ' "$folder/log"
verdict 'vectors: no device' $?

# Wrong cases: a wrong value, shape and code are detected.
cat >"$folder/wrong.vec" <<'END'
case wrong value
op FLOOR
in float32 [2] 1.5 2.5
out float32 [2] 1 3
end
case wrong shape
op FLOOR
in float32 [2] 1.5 2.5
out float32 [1,2] 1 2
end
case wrong code
op FLOOR
in int8 [2] 1 2
error INVALID_SHAPE
end
case not refused
op FLOOR
in float32 [2] 1.5 2.5
error INVALID_SHAPE
end
case refused
op FLOOR
in bool [2] 1 1
out bool [2] 1 1
end
case right
op FLOOR
in float32 [2] const 1.5 2.5
out float32 [2] 1 2
end
END
"$vectors" example "$folder/wrong.vec" >"$folder/log" 2>&1
[ $? -eq 1 ] && [ "$(tail -n 1 "$folder/log")" = '1 passed, 5 failed, 0 skipped' ]
verdict 'vectors: wrong cases fail' $?

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
