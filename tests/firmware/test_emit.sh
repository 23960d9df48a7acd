#!/bin/sh
# test_emit.sh NNRT: the output of nnrt emit-c. The digits network and every ONNX node test that can be planned become C,
# compile without warnings as C99 and C++17, and are bit-identical to the session on this machine; a wrong bit is
# detected; only the kernels of a model are linked; IF and LOOP run their subgraphs; wrong arguments are reported. NNRT is
# the command line to test.
set -u
nnrt=$1
data=${NNRT_ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}
CC=${CC:-cc}
CXX=${CXX:-g++}
. "$(dirname "$0")/../kit/verdict.sh"
# Emitted code does not use the fast device, which takes half of the compile time.
flags='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I. -O0 -DNNRT_CPU=0'
# Emitted code needs the implementation in the same file. $CC and $CXX compile a program of all node tests; clang compiles the
# other programs, as it compiles the library in a second.
fast='clang -std=c99' fastxx='clang++ -std=c++17'

# refuses STATUS TEXT ARGUMENT...: emit-c ends with this status, and says so in these words
refuses() {
    want=$1 text=$2
    shift 2
    "$nnrt" emit-c "$@" >"$folder/log" 2>&1
    got=$?
    if [ "$got" -eq "$want" ] && grep -q -e "$text" "$folder/log"; then
        pass
    else
        fail "emit-c $*: status $got, expected $want and '$text':"
        head -n 3 "$folder/log"
    fi
}

# program NAME FILE...: a C program that runs the self-test of each model, whose header is FILE
program() {
    name=$1
    shift
    {
        printf '#define NNRT_IMPLEMENTATION\n#include "nnrt.h"\n#include <stdio.h>\n'
        printf '#include "%s"\n' "$@"
        printf 'static uint64_t arena[1 << 20];\nint main(void)\n{\n    int wrong = 0;\n'
        for file in "$@"; do
            model=$(basename "$file" .h)
            upper=$(echo "$model" | tr '[:lower:]' '[:upper:]')
            printf '    if (%s_ARENA_BYTES > sizeof(arena) || %s_selftest(arena) != NNRT_SUCCESS)\n' "$upper" "$model"
            printf '        wrong += printf("%s\\n") > 0;\n' "$model"
        done
        printf '    return wrong > 0;\n}\n'
    } >"$folder/$name.c"
    cp "$folder/$name.c" "$folder/$name.cpp"
}

# ---- the digits network ----

digits=examples/digits/digits.onnx
holds 'digits are written' "$nnrt" emit-c $digits -o "$folder/digits.h" --name digits --input examples/digits/digit_7.png
refuses 1 'takes 47040 bytes, the most at step .pool1' $digits -o "$folder/small.h" --arena 47039
holds 'an arena of that size is enough' "$nnrt" emit-c $digits -o "$folder/small.h" --arena 47040
refuses 2 'does not take' $digits -o "$folder/small.h" --arena many
program digits "$folder/digits.h"
# shellcheck disable=SC2086  # flags are several words
for extra in '' '-DNNRT_FIRMWARE' '-DNNRT_STATIC -DNNRT_FIRMWARE -DNNRT_MAX_RANK=4'; do
    c=$fast
    [ -n "$extra" ] || c="$CC -std=c99"
    holds "digits compile as C99 $extra" $c $flags $extra -o "$folder/digits" "$folder/digits.c" -lm
    holds "digits give the same bits, C99 $extra" "$folder/digits"
    holds "digits compile as C++17 $extra" $fastxx $flags $extra -o "$folder/digits" "$folder/digits.cpp" -lm
    holds "digits give the same bits, C++17 $extra" "$folder/digits"
done

# before C++17 there are no hexadecimal floats
# shellcheck disable=SC2086
holds 'digits compile as C++11' clang++ -std=c++11 $flags -DNNRT_FIRMWARE -o "$folder/digits" "$folder/digits.cpp" -lm
holds 'digits give the same bits, C++11' "$folder/digits"

# one weight: the self-test must see it
sed '0,/digits_c1\[/b; 0,/ 0\.[0-9]*f/s/ 0\.\([0-9]*\)f/ 0.1\1f/' "$folder/digits.h" >"$folder/broken.h"
cmp -s "$folder/digits.h" "$folder/broken.h" && fail 'no weight was changed'
sed 's/digits\.h/broken.h/' "$folder/digits.c" >"$folder/broken.c"
# shellcheck disable=SC2086
holds 'the changed model compiles' $fast $flags -DNNRT_FIRMWARE -o "$folder/broken" "$folder/broken.c" -lm
if "$folder/broken" >/dev/null; then
    fail 'the self-test does not see a changed weight'
else
    pass
fi

# with --golden the self-test names the first node whose results differ: none, that of the changed weight, that whose
# expected checksum is another one, an output
holds 'digits with --golden are written' "$nnrt" emit-c $digits -o "$folder/golden.h" --name digits --golden examples/digits/digit_7.png
cat >"$folder/golden.c" <<'END'
#define NNRT_IMPLEMENTATION
#include "nnrt.h"
#include "golden.h"
#include <stdio.h>
int main(void)
{
    static uint64_t arena[DIGITS_ARENA_WORDS];
    const char *node = "nothing was told";
    const NNRT_ReturnCode code = digits_selftest_node(arena, &node), same = digits_selftest(arena);
    printf("%d %d %s\n", (int)code, (int)same, node != NULL ? node : "none");
    return 0;
}
END
cp "$folder/golden.c" "$folder/golden.cpp"
# names NAME TEXT: the program of golden.h prints this
names() {
    # shellcheck disable=SC2086
    holds "$1: compiles" $fast $flags -DNNRT_FIRMWARE -o "$folder/golden" "$folder/golden.c" -lm
    "$folder/golden" >"$folder/told"
    if grep -Fqx -e "$2" "$folder/told"; then pass; else fail "$1: $(cat "$folder/told"), expected $2"; fi
}
names 'golden' '0 0 none'
# shellcheck disable=SC2086
holds 'golden compiles as C++17' $fastxx $flags -o "$folder/golden" "$folder/golden.cpp" -lm
"$folder/golden" >"$folder/told"
holds 'golden as C++17' grep -Fqx '0 0 none' "$folder/told"
cp "$folder/golden.h" "$folder/whole.h"
sed '/^\/\* conv2, input 1/,/};/{0,/ 0\.[0-9]/s/\([ -]\)0\.\([0-9]*\)f/\10.1\2f/}' "$folder/whole.h" >"$folder/golden.h"
cmp -s "$folder/golden.h" "$folder/whole.h" && fail 'no weight of conv2 was changed'
names 'golden, another weight' "1 1 node 2 'conv2' (CONV2D_FUSION)"
awk '/_sums\[/ { print; getline; n = split($0, x, ", "); x[4] = "0x0u"; for (i = 1; i < n; i++) printf "%s, ", x[i]; print x[n]; next } { print }' \
    "$folder/whole.h" >"$folder/golden.h"
names 'golden, another checksum' "1 1 node 3 'pool2' (MAX_POOL_FUSION)"
sed 's/nnrti_bytes_equal(y0, digits_y0, 40)/nnrti_bytes_equal(y0, digits_y0 + 1, 36)/' "$folder/whole.h" >"$folder/golden.h"
names 'golden, another output' '1 1 output 0'
# the last checksum is that of the output, as FNV-1a is defined
holds 'the output of digits' "$nnrt" run $digits --input examples/digits/digit_7.png --output-dir "$folder/out"
holds 'the checksum of the output' "${PYTHON:-/usr/bin/python3}" -c '
import re, sys
data, text = open(sys.argv[1], "rb").read()[-40:], open(sys.argv[2]).read()
h = 2166136261
for b in data:
    h = (h ^ b) * 16777619 & 0xffffffff
sums = re.search(r"digits_sums\[9\] = \{([^}]*)\}", text).group(1).split(",")
sys.exit(0 if int(sums[8].strip().rstrip("u"), 16) == h else 1)' "$folder/out/probabilities.npy" "$folder/whole.h"

# the typed entry, and the plan through the checked one; only the kernels of the model are linked
cat >"$folder/entry.c" <<'END'
#define NNRT_IMPLEMENTATION
#define NNRT_STATIC
#define NNRT_FIRMWARE
#include "nnrt.h"
#include "digits.h"
int main(void)
{
    static uint64_t workspace[DIGITS_ARENA_WORDS + 256];
    static const int32_t in[4] = {1, 1, 28, 28};
    static float image[784], direct[10], planned[10];
    NNRT_IOTensor x, y;
    nnrt_error error;
    for (int i = 0; i < 784; i++)
        image[i] = (float)(i % 29) / 29.0f;
    memset(&x, 0, sizeof(x));
    memset(&error, 0, sizeof(error));
    x.dataType = NNRT_DATA_TYPE_FLOAT32;
    x.format = NNRT_FORMAT_NCHW;
    x.dimensions = NNRT_Int32List_make(in, 4);
    x.data.fd = -1;
    x.data.addr = image;
    x.data.bufferSize = x.data.dataSize = sizeof(image);
    y = x;
    y.format = NNRT_FORMAT_NONE;
    y.dimensions.count = 0;
    y.data.addr = planned;
    y.data.bufferSize = y.data.dataSize = sizeof(planned);
    if (digits_run(image, direct) != NNRT_SUCCESS || nnrt_plan_workspace(digits_plan()) > sizeof(workspace) ||
        nnrt_plan_run(digits_plan(), workspace, sizeof(workspace), &x, 1, &y, 1, NULL, &error) != NNRT_SUCCESS)
        return 1;
    if (!nnrti_bytes_equal(direct, planned, sizeof(direct)))
        return 2;
    x.data.dataSize--;
    if (nnrt_plan_run(digits_plan(), workspace, sizeof(workspace), &x, 1, &y, 1, NULL, &error) !=
        NNRT_INVALID_BUFFER_SIZE)
        return 3;
    return nnrt_plan_run(digits_plan(), workspace, 8, &x, 1, &y, 1, NULL, NULL) == NNRT_OUT_OF_MEMORY ? 0 : 4;
}
END
# shellcheck disable=SC2086
holds 'both entries compile' $CC -std=c99 $flags -Os -o "$folder/entry" "$folder/entry.c" -lm
holds 'both entries give the same bits' "$folder/entry"
nm "$folder/entry" >"$folder/symbols"
holds 'the kernels of the model are linked' grep -q conv2d_fusion_f32 "$folder/symbols"
for stranger in nnrt_gather nnrt_matmul_fusion_f32 nnrt_resize_f32 nnrt_plan_if nnrt_plan_loop nnrti_ops nnrt_plan_build malloc \
    printf; do
    if grep -q "\\b$stranger\\b" "$folder/symbols"; then
        fail "$stranger is linked, which the model does not need"
    else
        pass
    fi
done

# ---- every node test that can be planned ----

headers=''
count=0
left=0
for model in "$data"/node/test_*/model.onnx; do
    name=$(basename "$(dirname "$model")")
    if "$nnrt" emit-c "$model" -o "$folder/$name.h" --name "$name" >/dev/null 2>&1; then
        headers="$headers $name.h"
        count=$((count + 1))
    else
        left=$((left + 1))
        [ -e "$folder/$name.h" ] && fail "$name could not be written, but left a file"
    fi
done
if [ "$count" -ge 400 ]; then
    pass
else
    fail "$count node tests became C, expected at least 400"
fi
for name in test_range_float_type_positive_delta_expanded test_range_int32_type_negative_delta_expanded; do
    set -- "$data/node/$name/test_data_set_0" # a loop whose trips are constants
    holds "$name becomes C" "$nnrt" emit-c "$data/node/$name/model.onnx" -o "$folder/$name.h" --name "$name" \
        --input "start=$1/input_0.pb" --input "limit=$1/input_1.pb" --input "delta=$1/input_2.pb"
    headers="$headers $name.h"
    count=$((count + 1))
done
for name in test_if test_scan_sum test_scan9_sum; do
    holds "$name, which has subgraphs, is among them" test -e "$folder/$name.h"
done
# shellcheck disable=SC2086
program nodes $headers
# shellcheck disable=SC2086
for how in "$CC -std=c99" "$CXX -std=c++17"; do
    file=$folder/nodes.c
    [ "$how" = "$CXX -std=c++17" ] && file=$folder/nodes.cpp
    holds "$count node tests compile with $how" $how $flags -DNNRT_FIRMWARE -I"$folder" -o "$folder/nodes" "$file" -lm
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

# ---- subgraphs ----

# tests/firmware/emit_subgraphs.c writes models with IF and LOOP, and is the program that runs them as C
# shellcheck disable=SC2086
holds 'a writer of models with subgraphs' $fast $flags -o "$folder/write" tests/firmware/emit_subgraphs.c -lm
holds 'which writes them' "$folder/write" "$folder"
for name in nested swap sums until shared fault; do
    holds "$name becomes C" "$nnrt" emit-c "$folder/$name.nnrt" -o "$folder/$name.h" --name $name
done
# shellcheck disable=SC2086
{
    holds 'they compile as C99, a firmware with the sanitizers' $fast $flags -DNNRT_FIRMWARE -DEMITTED \
        -I"$folder" -fsanitize=address,undefined -fno-sanitize-recover=all -o "$folder/subgraphs" tests/firmware/emit_subgraphs.c -lm
    holds 'and give what they mean' "$folder/subgraphs"
    holds 'they compile as C++17' $fastxx -x c++ $flags -DEMITTED -I"$folder" -o "$folder/subgraphs" tests/firmware/emit_subgraphs.c -lm
    holds 'and give what they mean, C++17' "$folder/subgraphs"
    holds 'they compile as C99, a small firmware' $CC -std=c99 $flags -Os -DNNRT_STATIC -DNNRT_FIRMWARE -DNNRT_MAX_RANK=4 \
        -DEMITTED -I"$folder" -o "$folder/subgraphs" tests/firmware/emit_subgraphs.c -lm
    holds 'and give what they mean, small' "$folder/subgraphs"
}
nm "$folder/subgraphs" >"$folder/symbols"
holds 'their kernels are linked' grep -q nnrt_plan_loop "$folder/symbols"
for stranger in conv2d_fusion_f32 nnrti_ops nnrt_plan_build malloc; do
    if grep -q "\\b$stranger\\b" "$folder/symbols"; then
        fail "$stranger is linked, which models with subgraphs do not need"
    else
        pass
    fi
done
# the same in two memory regions, of which the first has room for a part
for name in nested swap sums until shared; do
    holds "$name with regions" "$nnrt" emit-c "$folder/$name.nnrt" -o "$folder/$name.h" --name $name --region fast=48 --region slow=65536
    holds "$name has both" grep -q 'NNRT_REGION(1)' "$folder/$name.h"
done
# shellcheck disable=SC2086
{
    holds 'they compile with regions' $fast $flags -DNNRT_FIRMWARE -DEMITTED -DSPLIT \
        -I"$folder" -fsanitize=address,undefined -fno-sanitize-recover=all -o "$folder/subgraphs" tests/firmware/emit_subgraphs.c -lm
    holds 'and give what they mean, with regions' "$folder/subgraphs"
    holds 'they compile with regions as C++17' $fastxx -x c++ $flags -DEMITTED -DSPLIT -I"$folder" -o "$folder/subgraphs" \
        tests/firmware/emit_subgraphs.c -lm
    holds 'and give what they mean, with regions, C++17' "$folder/subgraphs"
}
refuses 1 'requires static shapes' "$folder/told.nnrt" -o "$folder/x.h" --region fast=48 --region slow=65536
refuses 1 "node 2 'unequal' (IF): it has dynamic dimensions; emit-c requires static shapes" \
    "$folder/told.nnrt" -o "$folder/x.h"
refuses 1 "node 1 'view' (RESHAPE): it is resolved with values of the run" "$folder/late.nnrt" -o "$folder/x.h"

# ---- int8, and additions by a program ----

# Two convolutions in int8 whose weights have a scale for each of 32 channels: "same" with equal zero points, "other" with
# zero points of their own (uint8).
holds 'quantised networks are written' "${PYTHON:-/usr/bin/python3}" -c '
import sys
import numpy, onnx
from onnx import TensorProto as T, helper as h, numpy_helper as n
r = numpy.random.default_rng(5)
for name, kind in ("same", numpy.int8), ("other", numpy.uint8):
    w = r.integers(0, 127, (32, 3, 3, 3)).astype(kind)
    z = numpy.zeros(32, kind) if name == "same" else (r.integers(1, 9, 32)).astype(kind)
    consts = {"s": numpy.float32(0.05), "z": numpy.uint8(120), "w": w, "ws": r.random(32, numpy.float32) / 100 + 0.001, "wz": z,
              "ys": numpy.float32(0.2), "yz": numpy.uint8(7)}
    nodes = [h.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
             h.make_node("QLinearConv", ["q", "s", "z", "w", "ws", "wz", "ys", "yz"], ["p"], pads=[1, 1, 1, 1]),
             h.make_node("DequantizeLinear", ["p", "ys", "yz"], ["y"])]
    g = h.make_graph(nodes, name, [h.make_tensor_value_info("x", T.FLOAT, [1, 3, 8, 8])],
                     [h.make_tensor_value_info("y", T.FLOAT, [1, 32, 8, 8])], [n.from_array(numpy.asarray(v), k) for k, v in consts.items()])
    onnx.save(h.make_model(g, opset_imports=[h.make_opsetid("", 17)], ir_version=8), sys.argv[1] + "/" + name + ".onnx")' "$folder"
for name in same other; do
    holds "$name becomes C" "$nnrt" emit-c "$folder/$name.onnx" -o "$folder/$name.h" --name $name
    holds "$name computes in int8" grep -q 'kernels .*conv2d_fusion_q' "$folder/$name.h"
done
if grep -E 'NNRT_QuantParam same_q[0-9]+\[([2-9]|[0-9]{2,})\]' "$folder/same.h"; then
    fail 'scales of weights are written that no kernel reads'
else
    pass
fi
holds 'zero points that differ are written' grep -q 'NNRT_QuantParam other_q[0-9]*\[32\]' "$folder/other.h"
cat >"$folder/adds.c" <<'END'
#include <stdio.h>
static unsigned steps_met, step_met;
#define NNRT_STEP(plan, step) (steps_met++, step_met = (step))
#define SAME_DATA __attribute__((section("nn_same")))
#define NNRT_IMPLEMENTATION
#include "nnrt.h"
#include "same.h"
#include "other.h"
extern const char __start_nn_same[], __stop_nn_same[]; /* by the linker */
int main(void)
{
    static uint64_t arena[SAME_ARENA_WORDS + OTHER_ARENA_WORDS];
    static uint64_t workspace[SAME_ARENA_WORDS + 512] __attribute__((aligned(NNRT_ALIGNMENT)));
    static const int32_t dims[4] = {1, 3, 8, 8};
    static float x[35 * 64];
    NNRT_IOTensor in, out;
    nnrt_error error;
    NNRT_ReturnCode code;
    if (same_selftest(arena) != NNRT_SUCCESS || other_selftest(arena) != NNRT_SUCCESS)
        return printf("other bits\n");
    if (steps_met != same_plan()->nSteps + other_plan()->nSteps || step_met + 1 != other_plan()->nSteps)
        return printf("NNRT_STEP was met %u times, the last time at %u\n", steps_met, step_met);
    if (__stop_nn_same - __start_nn_same < 32 * 3 * 3 * 3)
        return printf("SAME_DATA places %d bytes\n", (int)(__stop_nn_same - __start_nn_same));
    memset(&in, 0, sizeof(in));
    memset(&error, 0, sizeof(error));
    in.dataType = NNRT_DATA_TYPE_FLOAT32;
    in.format = NNRT_FORMAT_NONE;
    in.dimensions = NNRT_Int32List_make(dims, 4);
    in.data.fd = -1;
    in.data.addr = x;
    in.data.bufferSize = in.data.dataSize = 3 * 64 * sizeof(float);
    out = in;
    out.dimensions.count = 0;
    out.data.addr = x + 3 * 64 - 1; /* the last element of the input is the first one of the result */
    out.data.bufferSize = out.data.dataSize = 32 * 64 * sizeof(float);
    code = nnrt_plan_run(same_plan(), workspace, sizeof(workspace), &in, 1, &out, 1, NULL, &error);
    if (code != NNRT_INVALID_BUFFER)
        return printf("an output that overlaps an input: %d\n", (int)code);
    out.data.addr = x + 3 * 64;
    code = nnrt_plan_run(same_plan(), workspace, sizeof(workspace), &in, 1, &out, 1, NULL, &error);
    return code == NNRT_SUCCESS ? 0 : printf("code %d\n", (int)code);
}
END
# shellcheck disable=SC2086
holds 'NNRT_STEP and NAME_DATA compile' $fast $flags -I"$folder" -o "$folder/adds" "$folder/adds.c" -lm
holds 'the bits of int8, every step met, constants placed' "$folder/adds"

# ---- integer inputs and outputs ----

# Classifiers in QDQ form: "scores" ends in DequantizeLinear, "classes" in a SOFTMAX of its result, "mixed" has a second input
# that is quantized twice, "many" any number of images.
holds 'classifiers in QDQ form are written' "${PYTHON:-/usr/bin/python3}" -c '
import sys
import numpy, onnx
from onnx import TensorProto as T, helper as h, numpy_helper as n
r = numpy.random.default_rng(7)
f32, u8, i8 = numpy.float32, numpy.uint8, numpy.int8
for name, kind in ("scores", i8), ("classes", u8), ("mixed", u8), ("many", i8):
    zero = 3 if kind is i8 else 120
    consts = {"xs": f32(0.031), "xz": kind(zero), "w": r.integers(-127, 127, (8, 3, 3, 3)).astype(i8), "ws": r.random(8).astype(f32) / 100 + f32(0.001),
              "wz": numpy.zeros(8, i8), "b": r.integers(-900, 900, 8).astype(numpy.int32), "bz": numpy.zeros(8, numpy.int32),
              "cs": f32(0.05), "cz": kind(-128 if kind is i8 else 0), "f": r.integers(-127, 127, (8, 5)).astype(i8), "fs": f32(0.02),
              "fz": i8(0), "ys": f32(0.15), "yz": kind(zero), "zs": f32(0.3)}
    consts["bs"] = consts["ws"] * consts["xs"]
    def node(op, *names, **a): return h.make_node(op, names[:-1], names[-1:], name=names[-1], **a)
    nodes = [node("QuantizeLinear", "x", "xs", "xz", "xq"), node("DequantizeLinear", "xq", "xs", "xz", "xr"),
             node("DequantizeLinear", "w", "ws", "wz", "wr", axis=0), node("DequantizeLinear", "b", "bs", "bz", "br", axis=0),
             node("Conv", "xr", "wr", "br", "c", pads=[1, 1, 1, 1], strides=[2, 2]), node("Relu", "c", "a"),
             node("QuantizeLinear", "a", "cs", "cz", "aq"), node("DequantizeLinear", "aq", "cs", "cz", "ar"),
             node("GlobalAveragePool", "ar", "g"), node("QuantizeLinear", "g", "cs", "cz", "gq"), node("DequantizeLinear", "gq", "cs", "cz", "gr"),
             node("Flatten", "gr", "l"), node("DequantizeLinear", "f", "fs", "fz", "fr"), node("MatMul", "l", "fr", "m"),
             node("QuantizeLinear", "m", "ys", "yz", "mq"), node("DequantizeLinear", "mq", "ys", "yz", "scores" if name != "classes" else "mr")]
    x, y = h.make_tensor_value_info("x", T.FLOAT, ["N" if name == "many" else 1, 3, 8, 8]), h.make_tensor_value_info(name if name == "classes" else "scores", T.FLOAT, None)
    inputs, outputs = [x], [y]
    if name == "classes":
        nodes.append(node("Softmax", "mr", "classes", axis=1))
    if name == "mixed":
        inputs.append(h.make_tensor_value_info("second", T.FLOAT, [1, 5]))
        outputs.append(h.make_tensor_value_info("sum", T.FLOAT, [1, 5]))
        nodes += [node("QuantizeLinear", "second", "ys", "yz", "sq"), node("DequantizeLinear", "sq", "ys", "yz", "sr"),
                  node("QuantizeLinear", "second", "zs", "yz", "tq"), node("DequantizeLinear", "tq", "zs", "yz", "tr"),
                  node("Add", "sr", "tr", "u"), node("QuantizeLinear", "u", "zs", "yz", "uq"), node("DequantizeLinear", "uq", "zs", "yz", "v"),
                  node("Sqrt", "v", "sum")]
    g = h.make_graph(nodes, name, inputs, outputs, [n.from_array(numpy.asarray(v), k) for k, v in consts.items()])
    onnx.save(h.make_model(g, opset_imports=[h.make_opsetid("", 17)], ir_version=8), sys.argv[1] + "/" + name + ".onnx")
    real = (r.random((1, 3, 8, 8), f32) * 9 - 4).astype(f32)
    real[0, 0, 0] = [numpy.nan, numpy.inf, -numpy.inf, 0.0155, 0.0465, -0.0155, 1e9, -1e9]
    units = real / f32(0.031)
    least, most = numpy.iinfo(kind).min, numpy.iinfo(kind).max
    numpy.save(sys.argv[1] + "/" + name + "_real.npy", real)
    numpy.save(sys.argv[1] + "/" + name + "_integers.npy", numpy.clip(numpy.rint(numpy.where(numpy.isnan(units), 0, units)) + zero, least, most).astype(kind))' "$folder"

# The inner integers of the model become its inputs and outputs: numpy's integers as input, and the integers before the removed
# DequantizeLinear as output. The float file is quantized as QuantizeLinear does.
for name in scores many; do
    holds "$name with --int8-io" "$nnrt" convert "$folder/$name.onnx" "$folder/$name.nnrt" --int8-io
    if [ -s "$folder/log" ] && grep -q 'nnrt: ' "$folder/log"; then fail "$name with --int8-io: $(cat "$folder/log")"; else pass; fi
    holds "$name: the integers inside" "$nnrt" run "$folder/$name.onnx" --device reference --outputs mq --input "$folder/${name}_real.npy" --output-dir "$folder/inside"
    for given in real integers; do
        holds "$name of $given" "$nnrt" run "$folder/$name.nnrt" --device reference --input "$folder/${name}_$given.npy" --output-dir "$folder/$given"
        holds "$name of $given: the same bytes" cmp "$folder/inside/mq.npy" "$folder/$given/scores.npy"
    done
done
# Images are, too: convert stores that the value is real.
for how in '--invert' '--mean 123.675 --std 58.395'; do
    # shellcheck disable=SC2086
    holds "the integers inside, of an image $how" "$nnrt" run "$folder/scores.onnx" --device reference --outputs mq --input examples/digits/digit_7.png --output-dir "$folder/inside" $how
    # shellcheck disable=SC2086
    holds "scores of an image $how" "$nnrt" run "$folder/scores.nnrt" --device reference --input examples/digits/digit_7.png --output-dir "$folder/image" $how
    holds "scores of an image $how: the same bytes" cmp "$folder/inside/mq.npy" "$folder/image/scores.npy"
done
"$nnrt" info "$folder/scores.nnrt" >"$folder/told" 2>&1
holds 'metadata say so' grep -Fqx 'metadata    input.x.quantize=yes' "$folder/told"
"$nnrt" info "$folder/many.nnrt" >"$folder/told" 2>&1
holds 'the batch stays dynamic, channels come first' grep -Fqx 'input       x  int8[?,3,8,8]  NCHW' "$folder/told"

# With a SOFTMAX at the end the answers are within a unit of 1/256 of those in float32, and a run is one of integers alone.
holds 'classes with --int8-io' "$nnrt" convert "$folder/classes.onnx" "$folder/classes.nnrt" --int8-io
holds 'classes in float32' "$nnrt" run "$folder/classes.onnx" --device reference --input "$folder/classes_real.npy" --output-dir "$folder/real"
holds 'classes in integers' "$nnrt" run "$folder/classes.nnrt" --device reference --input "$folder/classes_integers.npy" --output-dir "$folder/integers"
holds 'classes differ by a unit at most' "${PYTHON:-/usr/bin/python3}" -c '
import sys, numpy
real, got = (numpy.load(f"{sys.argv[1]}/{kind}/classes.npy") for kind in ("real", "integers"))
sys.exit(0 if got.dtype == numpy.uint8 and abs(numpy.minimum(real * 256, 255) - got).max() <= 1 and got.sum() > 200 else 1)' "$folder"

# As C: parameters are macros, and the self-test has the integers.
for name in scores classes; do
    holds "$name becomes C" "$nnrt" emit-c "$folder/$name.onnx" -o "$folder/$name.h" --name $name --int8-io --input "$folder/${name}_real.npy"
    holds "$name becomes C with floats" "$nnrt" emit-c "$folder/$name.onnx" -o "$folder/${name}_floats.h" --name ${name}_floats
done
for line in '#define SCORES_X_SCALE 0.0309999995f' '#define SCORES_X_ZERO_POINT 3' '#define SCORES_SCORES_SCALE 0.150000006f' \
    '#define SCORES_SCORES_ZERO_POINT 3' 'NNRT_API NNRT_ReturnCode scores_run(const int8_t x[192], int8_t scores[5]);' \
    '/* Quantized inputs and outputs store integers q: real = scale * (q - zero_point). */'; do
    holds "scores.h has: $line" grep -Fqx -e "$line" "$folder/scores.h"
done
for line in '#define CLASSES_X_ZERO_POINT 120' '#define CLASSES_CLASSES_SCALE 0.00390625f' '#define CLASSES_CLASSES_ZERO_POINT 0'; do
    holds "classes.h has: $line" grep -Fqx -e "$line" "$folder/classes.h"
done
if grep -q '_SCALE\|_ZERO_POINT' "$folder/classes_floats.h"; then fail 'macros of floats'; else pass; fi
holds 'the self-test has the integers of numpy' "${PYTHON:-/usr/bin/python3}" -c '
import re, sys, numpy
text = re.search(r"int8_t scores_x0\[192\] = \{(.*?)\}", open(sys.argv[1] + "/scores.h").read(), re.S).group(1)
sys.exit(0 if [int(v) for v in text.split(",")] == numpy.load(sys.argv[1] + "/scores_integers.npy").flatten().tolist() else 1)' "$folder"
program integers "$folder/scores.h" "$folder/classes.h"
# shellcheck disable=SC2086
holds 'integers compile' $fast $flags -DNNRT_FIRMWARE -o "$folder/integers_c" "$folder/integers.c" -lm
holds 'and give the same bits' "$folder/integers_c"

# A processor without floating point links none of it, neither arithmetic nor conversions nor the C library's functions.
floats='__aeabi_(c?[df]|[iu]2[df]|u?l2[df])|__(add|sub|mul|div|neg|cmp|eq|ne|lt|le|gt|ge|unord)[sd]f[23]|__(extend|trunc)[sd]f[sd]f2'
floats="$floats|__fix(uns)?[sd]f[sd]i|__float(un)?[sd]i[sd]f|nnrti?_(sqrt|exp|log|sin|cos|pow|round|floor|ceil)"
floats="$floats|(sqrt|exp|log|pow|round|floor|ceil|rint)f?\$"
if command -v arm-none-eabi-gcc >"$folder/log"; then
    for name in scores classes scores_floats classes_floats; do
        upper=$(echo $name | tr '[:lower:]' '[:upper:]')
        printf '#define NNRT_IMPLEMENTATION\n#define NNRT_STATIC\n#define NNRT_FIRMWARE\n#define NNRT_MAX_RANK 4\n#include "nnrt.h"\n#include "%s.h"\nint main(void)\n{\n    static uint64_t arena[%s_ARENA_WORDS];\n    return %s_selftest(arena);\n}\n' \
            $name "$upper" $name >"$folder/arm.c"
        for core in '-mcpu=cortex-m0plus' '-mcpu=cortex-m4 -mfloat-abi=soft'; do
            # shellcheck disable=SC2086
            holds "$name links for $core" arm-none-eabi-gcc -std=c99 -Os -mthumb $core -I. -I"$folder" -DNNRT_CPU=0 -ffunction-sections \
                -fdata-sections -Wl,--gc-sections --specs=nosys.specs -o "$folder/arm.elf" "$folder/arm.c"
            arm-none-eabi-nm "$folder/arm.elf" | grep -E " $floats" >"$folder/found"
            case $name in
            *_floats) holds "$name: the check sees its floats, $core" grep -q '__aeabi_fdiv' "$folder/found" ;;
            *) verdict "$name: links no floats, $core" "$(grep -c . "$folder/found")" "$folder/found" ;;
            esac
        done
    done
else
    echo 'skipped: the functions that a processor without floating point links; there is no arm-none-eabi-gcc'
fi

# The digits have integers as input and output already: nothing changes.
integers=examples/digits/digits_int8.onnx
holds 'digits in integers as they are' "$nnrt" run $integers --device reference --input examples/digits/digit_7.png --output-dir "$folder/inside"
holds 'digits with --int8-io' "$nnrt" convert $integers "$folder/digits_io.nnrt" --int8-io
holds 'digits of an image' "$nnrt" run "$folder/digits_io.nnrt" --device reference --input examples/digits/digit_7.png --output-dir "$folder/integers"
holds 'digits of an image: the same bytes' cmp "$folder/inside/probabilities.npy" "$folder/integers/probabilities.npy"
for from in $integers "$folder/digits_io.nnrt"; do
    holds "digits become C from $from" "$nnrt" emit-c "$from" -o "$folder/io_digits.h" --name io_digits --int8-io --golden examples/digits/digit_7.png
    program io "$folder/io_digits.h"
    # shellcheck disable=SC2086
    holds 'they compile' $fast $flags -DNNRT_FIRMWARE -o "$folder/io" "$folder/io.c" -lm
    holds 'and give the same bits' "$folder/io"
done

# An input that is quantized twice and an output after SQRT stay; a network in float32 is refused.
holds 'mixed with --int8-io' "$nnrt" emit-c "$folder/mixed.onnx" -o "$folder/mixed.h" --name mixed --int8-io
cp "$folder/log" "$folder/told"
holds 'the input that stays is named' grep -Fq "input 'second' stays float32: node 'tq/QUANTIZE_LINEAR' (QUANTIZE_LINEAR) quantizes it with other parameters than the first reader" "$folder/told"
holds 'the output that stays is named' grep -Fq "output 'sum' stays float32: node 'sum' (SQRT) has no quantized input" "$folder/told"
holds 'the others do not stay' grep -q 'mixed_run(const uint8_t x\[192\], const float second\[5\], uint8_t scores\[5\], float sum\[5\])' "$folder/mixed.h"
refuses 1 "integer_io: input 'image' stays float32: node .*reads it in float32; quantize the network in QDQ form" $digits -o "$folder/x.h" --int8-io
refuses 1 "output 'classes' stays float32: node 'classes' (SOFTMAX) has no quantized input" "$folder/classes.onnx" -o "$folder/none/x.h" --int8-io --no-quantize

# ---- attributes of every kind ----

# An operator of the tests has them: with it the command line, a program that writes a model of it, and one that compares its
# attributes in C.
cat >"$folder/values.h" <<'END'
static NNRT_EveryKind values(void)
{
    static const int64_t ints[] = {1, -2, INT32_MAX}, large[] = {INT64_MIN, INT64_MAX};
    static const float reals[] = {0.1f, INFINITY, -INFINITY, NAN, -1e-30f};
    static NNRT_Int64List lists[2];
    NNRT_EveryKind a;
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_EVERY_KIND)->attr, &a);
    lists[0] = nnrt_int64_list(ints, 2);
    a.flag = false;
    a.number = INT32_MIN;
    a.large = INT64_MIN;
    a.real = -INFINITY;
    a.precise = 1.0 / 3;
    a.type = NNRT_DATA_TYPE_UINT8;
    a.wideType = NNRT_DATA_TYPE_FLOAT64;
    a.mode = "a \"text\" \\ of 1\t\x01" "2 ?\?/ \xc3\xa9";
    a.ints = nnrt_int64_list(ints, 3);
    a.large2 = nnrt_int64_list(large, 2);
    a.lists.data = lists;
    a.lists.count = 2;
    a.reals = nnrt_float_list(reals, 5);
    return a;
}
END
cat >"$folder/write.c" <<'END'
#define NNRT_IMPLEMENTATION
#include "nnrt.h"
#include "values.h"
int main(int argc, char **argv)
{
    static const int32_t dims[] = {2};
    const NNRT_EveryKind a = values();
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    uint32_t x;
    if (argc < 2 || nnrt_builder_create(&b, "every", NULL) != NNRT_SUCCESS)
        return 1;
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 1, dims);
    x = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_EVERY_KIND, &a, &x, 1);
    nnrt_builder_output(b, nnrt_builder_op(b, "z", NNRT_NODE_TYPE_EVERY_KIND, NULL, &x, 1));
    return nnrt_builder_finish(b, &m, NULL) != NNRT_SUCCESS || nnrt_model_save(m, argv[1], NULL, NULL) != NNRT_SUCCESS;
}
END
cat >"$folder/compare.c" <<'END'
#define NNRT_IMPLEMENTATION
#include "nnrt.h"
#include "values.h"
#include "every.h"
int main(void)
{
    static uint64_t arena[EVERY_ARENA_WORDS + 1];
    const nnrt_attr_struct *s = nnrt_op_named("EVERY_KIND")->attr;
    const NNRT_EveryKind a = values();
    NNRT_EveryKind defaults;
    nnrt_attr_defaults(s, &defaults);
    return nnrt_attr_equal(s, &every_a0, &a) && nnrt_attr_equal(s, &every_a1, &defaults) &&
                   every_selftest(arena) == NNRT_SUCCESS
               ? 0
               : 1;
}
END
cat >"$folder/load.c" <<'END'
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#include "nnrt.h"
#include "values.h"
#include <stdio.h>
int main(int argc, char **argv)
{
    static uint64_t file[1024], buffer[2048];
    const NNRT_EveryKind a = values();
    NNRT_EveryKind defaults;
    const nnrt_attr_struct *s = nnrt_op_find(NNRT_NODE_TYPE_EVERY_KIND)->attr;
    NNRT_ModelConfig config;
    nnrt_memory memory;
    NNRT_Model *m;
    nnrt_plan *plan;
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    size_t bytes = f != NULL ? fread(file, 1, sizeof(file), f) : 0;
    memset(&config, 0, sizeof(config));
    nnrt_attr_defaults(s, &defaults);
    nnrt_memory_buffer(&memory, buffer, sizeof(buffer));
    if (nnrt_model_load_into(&m, file, bytes, true, &memory, NULL) != NNRT_SUCCESS ||
        !nnrt_attr_equal(s, &a, m->nodes.data[0].nodeAttr.data) ||
        !nnrt_attr_equal(s, &defaults, m->nodes.data[1].nodeAttr.data) ||
        nnrt_plan_build(m, &config, &memory, &plan) != NNRT_SUCCESS || plan->nSteps != 2 ||
        !nnrt_attr_equal(s, &a, plan->steps[0].attr) || plan->steps[0].attr == m->nodes.data[0].nodeAttr.data)
        return 1;
    return fclose(f);
}
END
cp "$folder/compare.c" "$folder/compare.cpp"
every="$flags -include tests/kit/every_kind.h -I$folder"
# shellcheck disable=SC2086
{
    holds 'the command line with an operator of the tests' $fast $every -o "$folder/nnrt_every" tools/nnrt.c -lm
    holds 'a writer of its models' $fast $every -o "$folder/write" "$folder/write.c" -lm
    holds 'which writes one' "$folder/write" "$folder/every.nnrt"
    holds 'that becomes C' "$folder/nnrt_every" emit-c "$folder/every.nnrt" -o "$folder/every.h" --name every
    holds 'compiles as C99' $fast $every -o "$folder/compare" "$folder/compare.c" -lm
    holds 'and has its attributes, C99' "$folder/compare"
    holds 'compiles as C++17' $fastxx $every -o "$folder/compare" "$folder/compare.cpp" -lm
    holds 'and has its attributes, C++17' "$folder/compare"
}
# shellcheck disable=SC2086
for extra in '' '-DNNRT_SELECT -DNNRT_KEEP_EVERY_KIND=1'; do
    holds "a firmware compiles, $extra" $fast $every $extra -Wno-unused-const-variable -o "$folder/load" "$folder/load.c" -lm
    holds "and loads it, $extra" "$folder/load" "$folder/every.nnrt"
done
holds 'types have their names' grep -q '^    44, /\* wideType float64 \*/$' "$folder/every.h"
holds 'and so do enumerators' grep -q '^    1, /\* padMode SAME \*/$' "$folder/every.h"

# ---- memory regions, sections, states ----

CLANG=clang "${PYTHON:-/usr/bin/python3}" -B tests/firmware/emit_memory.py "$nnrt" "$folder" >"$folder/memory"
sed '$d' "$folder/memory"
counts=$(tail -n 1 "$folder/memory")
case $counts in
*' passed, '*' failed')
    passed=$((passed + ${counts%% *}))
    counts=${counts#*passed, }
    failed=$((failed + ${counts%% *}))
    ;;
*) fail "emit_memory.py ends with '$counts'" ;;
esac

# ---- arguments ----

refuses 2 'the model is missing' -o "$folder/x.h"
refuses 2 'the output file is missing' $digits
refuses 2 'expected a C identifier' $digits -o "$folder/x.h" --name 7up
refuses 2 'expected a C identifier' $digits -o "$folder/x.h" --name nnrt_x
refuses 2 'expected a C identifier' $digits -o "$folder/x.h" --name int
refuses 2 'expected a C identifier' $digits -o "$folder/x.h" --name 'a b'
refuses 1 'cannot write' $digits -o "$folder/none/x.h"
refuses 1 'absent.onnx' "$folder/absent.onnx" -o "$folder/x.h"
if [ -w /dev/full ]; then
    refuses 1 'cannot write all of /dev/full' $digits -o /dev/full
    holds 'a device is left alone' test -c /dev/full
fi
[ -e "$folder/x.h" ] && fail 'a refused call left a file'
holds 'the name comes from the file' "$nnrt" emit-c $digits -o "$folder/named.h"
holds 'it is digits' grep -q 'digits_run(const float image\[784\], float probabilities\[10\])' "$folder/named.h"
holds 'a .nnrt file' "$nnrt" convert $digits "$folder/d.nnrt"
holds 'is written as well' "$nnrt" emit-c "$folder/d.nnrt" -o "$folder/d.h" --name digits --input examples/digits/digit_7.png
holds 'and gives the same C' cmp "$folder/d.h" "$folder/digits.h"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
