#!/bin/sh
# test_emit_integers.sh: quantized networks as C, with integer inputs and outputs; without an FPU they link no floating
# point. Macros by which a program adds to the emitted code. Arguments: emit.sh.
set -u
. tests/firmware/emit.sh

# ---- int8, and additions by a program ----

# Two convolutions in int8 whose weights have a scale for each of 32 channels: "same" with equal zero points, "other"
# with zero points of their own (uint8).
holds 'quantised networks are written' "$python" -c '
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
    holds "$name becomes C" asks "$sanitized" emit-c "$folder/$name.onnx" -o "$folder/$name.h" --name $name
    holds "$name computes in int8" grep -q 'kernels .*conv2d_fusion_q' "$folder/$name.h"
done
lacks 'scales of weights that no kernel reads are not written' "$folder/same.h" 'NNRT_QuantParam same_q[0-9]+\[([2-9]|[0-9]{2,})\]'
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
holds 'NNRT_STEP and NAME_DATA compile' $fast $flags $firmware -o "$folder/adds" "$folder/adds.c" -lm
holds 'the bits of int8, every step met, constants placed' "$folder/adds"

# ---- integer inputs and outputs ----

# Classifiers in QDQ form: "scores" ends in DequantizeLinear, "classes" in a SOFTMAX of its result, "mixed" has a second
# input that is quantized twice, "many" any number of images.
holds 'classifiers in QDQ form are written' "$python" -c '
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

# The inner integers of the model become its inputs and outputs: numpy's integers as input, and the integers before the
# removed DequantizeLinear as output. The float file is quantized as QuantizeLinear does.
for name in scores many; do
    holds "$name with --int8-io" asks "$sanitized" convert "$folder/$name.onnx" "$folder/$name.nnrt" --int8-io
    if [ -s "$folder/err" ] && grep -q 'nnrt: ' "$folder/err"; then fail "$name with --int8-io: $(cat "$folder/err")"; else pass; fi
    holds "$name: the integers inside" asks "$sanitized" run "$folder/$name.onnx" --device reference --outputs mq --input "$folder/${name}_real.npy" --output-dir "$folder/inside"
    for given in real integers; do
        holds "$name of $given" asks "$sanitized" run "$folder/$name.nnrt" --device reference --input "$folder/${name}_$given.npy" --output-dir "$folder/$given"
        holds "$name of $given: the same bytes" cmp "$folder/inside/mq.npy" "$folder/$given/scores.npy"
    done
done
# Images are, too: convert stores that the value is real.
for how in '--invert' '--mean 123.675 --std 58.395'; do
    # shellcheck disable=SC2086
    holds "the integers inside, of an image $how" asks "$sanitized" run "$folder/scores.onnx" --device reference --outputs mq --input examples/digits/digit_7.png --output-dir "$folder/inside" $how
    # shellcheck disable=SC2086
    holds "scores of an image $how" asks "$sanitized" run "$folder/scores.nnrt" --device reference --input examples/digits/digit_7.png --output-dir "$folder/image" $how
    holds "scores of an image $how: the same bytes" cmp "$folder/inside/mq.npy" "$folder/image/scores.npy"
done
ask "$sanitized" info "$folder/scores.nnrt"
holds 'metadata say so' grep -Fqx 'metadata    input.x.quantize=yes' "$folder/out"
ask "$sanitized" info "$folder/many.nnrt"
holds 'the batch stays dynamic, channels come first' grep -Fqx 'input       x  int8[?,3,8,8]  NCHW' "$folder/out"

# With a SOFTMAX at the end the answers are within a unit of 1/256 of those in float32, and a run is one of integers
# alone.
holds 'classes with --int8-io' asks "$sanitized" convert "$folder/classes.onnx" "$folder/classes.nnrt" --int8-io
holds 'classes in float32' asks "$sanitized" run "$folder/classes.onnx" --device reference --input "$folder/classes_real.npy" --output-dir "$folder/real"
holds 'classes in integers' asks "$sanitized" run "$folder/classes.nnrt" --device reference --input "$folder/classes_integers.npy" --output-dir "$folder/integers"
holds 'classes differ by a unit at most' "$python" -c '
import sys, numpy
real, got = (numpy.load(f"{sys.argv[1]}/{kind}/classes.npy") for kind in ("real", "integers"))
sys.exit(0 if got.dtype == numpy.uint8 and abs(numpy.minimum(real * 256, 255) - got).max() <= 1 and got.sum() > 200 else 1)' "$folder"

# As C: parameters are macros, and the self-test has the integers.
for name in scores classes; do
    holds "$name becomes C" asks "$sanitized" emit-c "$folder/$name.onnx" -o "$folder/$name.h" --name $name --int8-io --input "$folder/${name}_real.npy"
    holds "$name becomes C with floats" asks "$sanitized" emit-c "$folder/$name.onnx" -o "$folder/${name}_floats.h" --name ${name}_floats
done
for line in '#define SCORES_X_SCALE 0.0309999995f' '#define SCORES_X_ZERO_POINT 3' '#define SCORES_SCORES_SCALE 0.150000006f' \
    '#define SCORES_SCORES_ZERO_POINT 3' 'NNRT_API NNRT_ReturnCode scores_run(const int8_t x[192], int8_t scores[5]);' \
    '/* Quantized inputs and outputs store integers q: real = scale * (q - zero_point). */'; do
    holds "scores.h has: $line" grep -Fqx -e "$line" "$folder/scores.h"
done
for line in '#define CLASSES_X_ZERO_POINT 120' '#define CLASSES_CLASSES_SCALE 0.00390625f' '#define CLASSES_CLASSES_ZERO_POINT 0'; do
    holds "classes.h has: $line" grep -Fqx -e "$line" "$folder/classes.h"
done
lacks 'no macros of floats' "$folder/classes_floats.h" '_SCALE|_ZERO_POINT'
holds 'the self-test has the integers of numpy' "$python" -c '
import re, sys, numpy
text = re.search(r"int8_t scores_x0\[192\] = \{(.*?)\}", open(sys.argv[1] + "/scores.h").read(), re.S).group(1)
sys.exit(0 if [int(v) for v in text.split(",")] == numpy.load(sys.argv[1] + "/scores_integers.npy").flatten().tolist() else 1)' "$folder"
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
    skip 'the functions that a processor without floating point links' 'there is no arm-none-eabi-gcc'
fi

# The digits have integers as input and output already: nothing changes.
integers=examples/digits/digits_int8.onnx
holds 'digits in integers as they are' asks "$sanitized" run $integers --device reference --input examples/digits/digit_7.png --output-dir "$folder/inside"
holds 'digits with --int8-io' asks "$sanitized" convert $integers "$folder/digits_io.nnrt" --int8-io
holds 'digits of an image' asks "$sanitized" run "$folder/digits_io.nnrt" --device reference --input examples/digits/digit_7.png --output-dir "$folder/integers"
holds 'digits of an image: the same bytes' cmp "$folder/inside/probabilities.npy" "$folder/integers/probabilities.npy"
holds 'digits become C from the ONNX file' asks "$sanitized" emit-c $integers -o "$folder/io_onnx.h" --name io_onnx --int8-io --golden examples/digits/digit_7.png
holds 'digits become C from the .nnrt file' asks "$sanitized" emit-c "$folder/digits_io.nnrt" -o "$folder/io_file.h" --name io_file --int8-io \
    --golden examples/digits/digit_7.png

# One program runs all of them.
program integers scores.h classes.h io_onnx.h io_file.h
# shellcheck disable=SC2086
holds 'integers compile' $fast $flags $firmware -o "$folder/integers_c" "$folder/integers.c" -lm
holds 'and give the same bits' "$folder/integers_c"
cp "$folder/log" "$folder/wrong"
for name in scores classes io_onnx io_file; do lacks 'the same bits' "$folder/wrong" "^$name\$"; done

# An input that is quantized twice and an output after SQRT stay; a network in float32 is refused.
holds 'mixed with --int8-io' asks "$sanitized" emit-c "$folder/mixed.onnx" -o "$folder/mixed.h" --name mixed --int8-io
cp "$folder/err" "$folder/told"
holds 'the input that stays is named' grep -Fq "input 'second' stays float32: node 'tq/QUANTIZE_LINEAR' (QUANTIZE_LINEAR) quantizes it with other parameters than the first reader" "$folder/told"
holds 'the output that stays is named' grep -Fq "output 'sum' stays float32: node 'sum' (SQRT) has no quantized input" "$folder/told"
holds 'the others do not stay' grep -q 'mixed_run(const uint8_t x\[192\], const float second\[5\], uint8_t scores\[5\], float sum\[5\])' "$folder/mixed.h"
refuses 1 "integer_io: input 'image' stays float32: node .*reads it in float32; quantize the network in QDQ form" $digits -o "$folder/x.h" --int8-io
refuses 1 "output 'classes' stays float32: node 'classes' (SOFTMAX) has no quantized input" "$folder/classes.onnx" -o "$folder/none/x.h" --int8-io --no-quantize

total
