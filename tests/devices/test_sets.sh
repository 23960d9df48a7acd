#!/bin/sh
# test_sets.sh DEVICE_VECTORS DIFFERENTIAL: the fast device with each instruction set of this machine: the vectors of the
# operators that have kernels in it, also with dynamic dimensions, and some random graphs. tests/kit/devices.h lists the names of the instruction sets.
# Runs from the root of the repository; ends with "N passed, N failed, N skipped"; an unavailable instruction set counts
# as one skipped.
set -u
vectors=$1 differential=$2
python=${PYTHON:-/usr/bin/python3}
passed=0 failed=0 skipped=0
others='RESHAPE TRANSPOSE CONCAT' # which have layouts and shapes to keep
operators='' files=''
for op in dft gru lstm lstm_peephole rnn stft; do # which the random graphs do not have, or only now and then
    files="$files tests/ops/vectors/$op.vec"
done
for op in activation add_fusion average_pool_3d avgpool_fusion bias_add cast ceil clip conv_integer matmul_integer conv2d_fusion conv2d_transpose_fusion conv_3d \
    div_fusion erf expfusion floor full_connection fused_batch_norm group_norm_fusion hard_sigmoid instance_norm layer_norm_fusion leaky_relu log log_softmax matmul_fusion matmul_nbits \
    max_pool_3d max_pool_fusion maximum minimum mish mul_fusion pow_fusion prelu_fusion quant quant_dtype_cast real_div reduce_fusion \
    argmax_fusion argmin_fusion bottom_k cos equal greater greater_equal l2_normalize_fusion less less_equal lp_normalization lrn not_equal \
    resize select sin topk_fusion where rms_normalization round rsqrt scale_fusion softmax softplus sqrt square squared_difference sub_fusion; do
    files="$files tests/ops/vectors/$op.vec"
    [ "$op" = quant ] || operators="$operators $(echo "$op" | tr '[:lower:]' '[:upper:]')"
done

dynamic='' # with kernels for steps with dynamic shapes
for op in activation add_fusion argmax_fusion clip dft erf full_connection greater_equal l2_normalize_fusion layer_norm_fusion less \
    log_softmax lp_normalization matmul_fusion matmul_nbits mul_fusion pow_fusion prelu_fusion reduce_fusion rms_normalization \
    select softmax stft sub_fusion transpose where avgpool_fusion conv2d_fusion conv2d_transpose_fusion fused_batch_norm \
    max_pool_fusion quant scale_fusion resize conv_integer matmul_integer quant_dtype_cast average_pool_3d max_pool_3d conv_3d \
    gather gather_elements gather_nd group_norm_fusion gru lstm lstm_peephole rnn lrn equal einsum quantize_linear; do
    dynamic="$dynamic tests/ops/vectors/$op.vec"
done

# count TEXT: adds a last line "N passed, N failed..."
count() {
    last=$(printf '%s\n' "$1" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p' | tail -n 1)
    # shellcheck disable=SC2086  # two numbers
    set -- ${last:-0 1}
    passed=$((passed + $1)) failed=$((failed + $2))
}

for set in $(sed -n 's/^    {"\(cpu-[a-z0-9]*\)".*/\1/p' tests/kit/devices.h); do
    # shellcheck disable=SC2086  # files are several
    said=$("$vectors" "$set" $files 2>&1)
    case $said in
    *"is not supported by this machine"*)
        echo "skipped $set: $said"
        skipped=$((skipped + 1))
        continue
        ;;
    esac
    printf '%s, vectors: %s\n' "$set" "$said"
    count "$said"
    # shellcheck disable=SC2086  # files are several
    said=$("$vectors" --open "$set" $dynamic 2>&1)
    printf '%s, vectors with dynamic dimensions: %s\n' "$set" "$said"
    count "$said"
    said=$(NNRT_TEST_DEVICE=$set "$python" -B tests/devices/differential.py --number 30 --seed 5 --only "$operators $others" \
        "$differential" 2>&1)
    printf '%s, graphs: %s\n' "$set" "$said"
    count "$said"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
