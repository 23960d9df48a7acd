#!/bin/sh
# test_cli_ops.sh: nnrt ops, its tables and its copies of operators; tests/ops/test_copy.py compiles and runs the
# copies. Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models

# ---- tables ----

t 0 'ops --tsv' ops --tsv
prints 'ops --tsv has a row' '^CONV2D_FUSION	35	[a-z0-9,]*float32'
py 'every row of ops --tsv is name, number, types, since' 'all(len(r.split("\t")) == 4 and int(r.split("\t")[1]) > 0 and {t.lstrip("q") for t in r.split("\t")[2].split(",")} <= set(TYPES) and r.split("\t")[3] in ("10", "20", "21", "0") for r in open(F + "out").read().splitlines())'
prints 'ops --tsv has quantised types and the version' '^TRANSPOSE	162	[a-z0-9,]*,qint8[a-z0-9,]*	10$'
grep -Ec . "$folder/out" >"$folder/count"
t 0 'ops' ops
prints 'ops' '^CONV2D_FUSION +35  .*float32,float64  HDI 1[.]0$'
t 0 'ops --json' ops --json
py 'ops --json agrees with --tsv' 'len(d["operators"]) == int(open(F + "count").read()) >= 48 and {"name", "number", "types", "kernels", "inputs", "outputs", "since"} == set(d["operators"][0])'
t 0 'ops --onnx' ops --onnx
silent 'ops --onnx'
prints 'ops --onnx: one operator' '^Abs +1-28   ABS$'
prints 'ops --onnx: beside others' '^LRN +1-28   LRN, with RESHAPE .*: other than 4 axes'
prints 'ops --onnx: made of several' '^Shrink +9-28   made of LESS GREATER .*: selected by two comparisons$'
prints 'ops --onnx: nothing' '^Identity +1-28   its input under another name$'
prints 'ops --onnx: left out' '^StringConcat +unsupported: strings$'
t 0 'ops --onnx --tsv' ops --onnx --tsv
prints 'ops --onnx --tsv' '^DFT	17	28	DFT		$'
prints 'ops --onnx --tsv: left out' '^ai[.]onnx[.]ml[.]ZipMap	0	0			maps; export with the option zipmap=False$'
cp "$folder/out" "$folder/onnx.tsv"
t 0 'ops --json' ops --json
py 'ops --onnx names operators that there are' '{w for r in open(F + "onnx.tsv") for c in r.rstrip("\n").split("\t")[3:5] for w in c.split()} <= {o["name"] for o in d["operators"]}'
t 0 'ops --onnx --json' ops --onnx --json
py 'ops --onnx --json agrees with --tsv' '["\t".join([o["name"], *map(str, o["sets"]), o["becomes"], o["with"], o["why"]]) for o in d["operators"]] == open(F + "onnx.tsv").read().splitlines()'
py 'ops --onnx: each says something' 'all(o["becomes"] or o["why"] for o in d["operators"]) and all(o["why"] for o in d["operators"] if o["with"])'
t 0 'ops --tflite' ops --tflite
silent 'ops --tflite'
prints 'ops --tflite: supported' '^CONV_2D +3  1-8 +fqs +CONV2D_FUSION ACTIVATION '
prints 'ops --tflite: unsupported' '^HASHTABLE +136  unsupported$'
t 0 'ops --tflite --tsv' ops --tflite --tsv
prints 'ops --tflite --tsv' '^RELU6	21	3	fqw	ACTIVATION QUANT_DTYPE_CAST$'
t 0 'ops --tflite --json' ops --tflite --json
py 'ops --tflite --json: numbers are unique but for custom operators' 'len({o["number"] for o in d["operators"]}) == len(d["operators"]) - 4'
refused 2 'ops --tflite --copy' '--tflite lists operators of TensorFlow Lite and cannot be combined with --copy' ops --tflite --copy SOFTMAX
refused 2 'ops --tflite --onnx' '--onnx lists operators of ONNX and cannot be combined with --tflite' ops --tflite --onnx
refused 2 'ops --onnx --copy' '--onnx lists operators of ONNX and cannot be combined with --copy' ops --onnx --copy SOFTMAX
refused 2 'ops --onnx --header' '--onnx lists operators of ONNX and cannot be combined with --header' ops --onnx --header nnrt_ops.h

# ---- ops --copy ----

if grep -q '>>kernel SOFTMAX' nnrt_ops.h; then

t 0 'ops --copy of an operator' ops --copy SOFTMAX
silent 'ops --copy of an operator'
prints 'ops --copy: the float32 kernel' '^NNRT_ReturnCode nnrt_softmax_f32\('
lacks 'ops --copy prints another kernel unasked' nnrt_softmax_f16
prints 'ops --copy: the license' '^/[*] SPDX-License-Identifier: MIT[.] Copyright [(]c[)] 2026 nnrt authors$'
t 0 'ops --copy --all' ops --copy SOFTMAX --all
silent 'ops --copy --all'
prints 'ops --copy --all: both kernels' '^NNRT_ReturnCode nnrt_softmax_f16\('
prints 'ops --copy: how it is called' '^nnrt_softmax_f16\(attr, x, y\)$'
prints 'ops --copy: its types' '^    x +input 0, x: float16$'
prints 'ops --copy: what is resolved' '^    Resolved: axis is a list of one entry >= 0[.]$'
program=$plain # the program reads all of nnrt_ops.h, for a second and a half with sanitizers
t 0 'ops --copy of a kernel' ops --copy nnrt_softmax_f32
prints 'ops --copy of a kernel' '^NNRT_ReturnCode nnrt_softmax_f32\('
lacks 'ops --copy of a kernel prints another' nnrt_softmax_f16
t 0 'ops --copy of the kernel of another operator' ops --copy SQUEEZE
prints 'ops --copy of the kernel of another operator' '^NNRT_ReturnCode nnrt_reshape\('
program=$sanitized
t 0 'ops --copy of three inputs, one of them optional, and a derived constant' ops --copy PAD_FUSION --all
program=$plain
prints 'ops --copy: optional' '^    value +input 2, value, may be NULL: of the type of x$'
prints 'ops --copy: derived' '^    [a-z]+ +derived constant 0, see below$'
prints 'ops --copy: the rule' '^static NNRT_ReturnCode nnrti_rule_pad_fusion[(]nnrt_resolve [*]c[)]$'
prints 'ops --copy: how a factor is made' '^static void nnrti_factor[(]double d, int32_t factor'
t 0 'ops --copy of an image operator' ops --copy CONV2D_FUSION
prints 'ops --copy of an image operator' 'x \[N,H,W,Ci\], weight \[Co,kH,kW,Ci/group\]'
t 0 'ops --copy of repeated inputs' ops --copy CONCAT
prints 'ops --copy of repeated inputs' '^    x, as many as there are, one behind the other \(float32\) -> y$'
for c in softmax:SOFTMAX Conv:CONV2D_FUSION conv2d:CONV2D_FUSION GELU:ACTIVATION nms:NON_MAX_SUPPRESSION MatMul:MATMUL_FUSION \
    LayerNorm:LAYER_NORM_FUSION LAYER_NORM:LAYER_NORM_FUSION DepthwiseConv:CONV2D_FUSION depthwise_conv_2d:CONV2D_FUSION \
    LayerNormalization:LAYER_NORM_FUSION FULLY_CONNECTED:FULL_CONNECTION TRANSPOSE_CONV:CONV2D_TRANSPOSE_FUSION; do
    t 0 "ops --copy ${c%%:*}" ops --copy "${c%%:*}"
    says "ops --copy ${c%%:*}" "^nnrt: note: ${c%%:*} is ${c#*:}(; also .*)?\$"
    prints "ops --copy ${c%%:*}" "^${c#*:} of nnrt .*, extracted from|^nnrt_[a-z0-9_]* of nnrt .*, extracted from"
done
lacks 'ops --copy: enumerators of members that the kernel does not read' 'NNRT_PAD_MODE_SAME'
program=$sanitized
refused 1 'ops --copy: by meaning' "unknown operator or kernel 'layernom'; the nearest names are LAYER_NORM_FUSION \\(LayerNorm\\), " ops --copy layernom
refused 1 'ops --copy: several operators' 'Shrink is not an operator of nnrt: the ONNX importer uses LESS GREATER' ops --copy shrink
refused 1 'ops --copy: a kernel that is not there' 'the nearest names are nnrt_softmax_f' ops --copy nnrt_softmax_f128
refused 1 'ops --copy: a long name' 'unknown operator or kernel' ops --copy "$(printf '%0200d' 7)"
refused 2 'ops --copy of nothing' '--copy does not take' ops --copy ''
refused 2 'ops --copy --json' '--copy prints C and cannot be combined with --json' ops --copy SOFTMAX --json
refused 2 'ops --copy --tsv' '--copy prints C and cannot be combined with --tsv' ops --copy SOFTMAX --tsv
program=$plain
t 0 'ops --copy --type' ops --copy LSTM --type float32
lacks 'ops --copy --type float32 prints float16' nnrt_half_to_float
t 0 'ops --copy --activation' ops --copy nnrt_conv2d_fusion_f32 --activation RELU
lacks 'ops --copy --activation RELU prints GELU' 'nnrti_erff'
prints 'ops --copy --activation' 'case NNRT_ACTIVATION_TYPE_RELU: return'
lacks 'ops --copy prints an example unasked' 'NNRT_EXAMPLE'
t 0 'ops --copy of a convolution' ops --copy CONV2D_FUSION
prints 'ops --copy: the usual activations' '^Fused activations: none, RELU,RELU6; others: '
lacks 'ops --copy prints GELU unasked' 'erff'
t 0 'ops --copy ACTIVATION' ops --copy ACTIVATION
prints 'ops --copy ACTIVATION has all activations' '[(]1[.]0f [+] erff[(]'
prints 'ops --copy: functions of <math.h>' "^'nnrt ops --copy ACTIVATION --all' has functions in place of <math.h>: "
prints 'ops --copy: includes <math.h>' '^#include <math.h>$'
t 0 'ops --copy --all has the functions of nnrt_ops.h' ops --copy ACTIVATION --all
prints 'ops --copy --all has the functions of nnrt_ops.h' '^static float nnrti_erff[(]float x[)]$'
lacks 'ops --copy --all names <math.h> in place of them' 'This copy calls <math.h>'
t 0 'ops --copy of a copy of elements' ops --copy CONCAT
prints 'ops --copy: the short form' '^static void nnrti_copy_axes[(]'
lacks 'ops --copy: the fast form' 'nnrt_walk'
t 0 'ops --copy --all of a copy of elements' ops --copy CONCAT --all
prints 'ops --copy --all: the fast form' '^static bool nnrt_walk_first[(]'
lacks 'ops --copy --all: the short form' 'nnrti_copy_axes'
t 0 'ops --show' ops --show Conv
prints 'ops --show: shapes' '^CONV2D_FUSION  x\[N,H,W,C\] weight'
prints 'ops --show: attributes' '^    NNRT_Int64List padList; /[*] '
prints 'ops --show: formula' '^/[*] y\[n,p,q,o\] = act\(bias\[o\]'
prints 'ops --show: loops' '^                            for \(int32_t k = 0; k < channels; k\+\+\)$'
lacks 'ops --show prints the view' 'typedef struct nnrt_view'
t 0 'ops --show: an operator that shares its method with a few others' ops --show TOPK_FUSION
prints 'ops --show: the shared method' '^static NNRT_ReturnCode nnrti_topk_lines\('
lacks 'ops --show prints an accessor' '^static .*nnrti_offset\('
t 0 'ops --show: an operator that shares a struct' ops --show ROI_ALIGN
prints 'ops --show: the struct' '^typedef struct nnrti_bilinear [{]$'
t 0 'ops --show: an operator that a macro generates' ops --show ABS
prints 'ops --show: its loop' '^    for \(int32_t i = 0; i < n; i\+\+\)$'
t 0 'ops --copy of an elementwise operator' ops --copy ABS
prints 'ops --copy of an elementwise operator: a row function' '^void nnrti_abs_f32_row\(const NNRT_Abs \*attr, const float \*x, float \*y, int32_t n\)$'
lacks 'ops --copy of an elementwise operator prints the walk over views' nnrt_walk
t 0 'ops --copy of an elementwise operator for integers' ops --copy EQUAL --type int32
prints 'ops --copy of an elementwise operator for integers: a row function' '^void nnrti_equal_i32_row\('
t 0 'ops --copy of a divisor that is checked' ops --copy MOD --type int32
prints 'ops --copy of a divisor that is checked: the kernel' '^NNRT_ReturnCode nnrt_mod\('
t 0 'ops --copy of an elementwise operator with all types' ops --copy ABS --all
prints 'ops --copy of an elementwise operator with all types: views' 'nnrt_walk_first'
refused 2 'ops --show --example' '--show prints a kernel to read it and cannot be combined with --example' ops --show ABS --example
refused 2 'ops --all' '--all requires --copy' ops --all
refused 2 'ops --all --type' 'cannot be combined with --type' ops --copy ABS --all --type int8
t 0 'ops --copy --example' ops --copy SOFTMAX --example
prints 'ops --copy --example' '^#ifdef NNRT_EXAMPLE'
program=$sanitized
program=$plain
refused 1 'ops --copy --type: no kernel' 'SOFTMAX --type bool has no kernel for bool' ops --copy SOFTMAX --type bool
program=$sanitized
refused 2 'ops --copy --type: unknown' '--type does not take' ops --copy SOFTMAX --type float31
refused 2 'ops --type' '--type requires --copy' ops --type float32
refused 2 'ops --header' '--header requires --copy' ops --header nnrt_ops.h
refused 1 'ops --copy: header not there' 'cannot open .*no.h: No such file' ops --copy SOFTMAX --header "$folder/no.h"
refused 1 'ops --copy: another header' 'nnrt_hal.h has no function nnrt_softmax_f32: it is not nnrt_ops.h, or of another version' ops --copy SOFTMAX --header nnrt_hal.h
program=$plain
sed 's/nnrt_softmax_f32(const NNRT_Softmax \*attr, /&const nnrt_view *more, /' nnrt_ops.h >"$folder/other.h"
refused 1 'ops --copy: other parameters' 'other.h is of another version: its nnrt_softmax_f32 has other parameters' ops --copy SOFTMAX --header "$folder/other.h"
t 0 'ops --copy' ops --copy ACTIVATION
cp "$folder/out" "$folder/activation.c"
sed 's/$/\r/' nnrt_ops.h >"$folder/crlf.h"
t 0 'ops --copy: lines end in CR LF' ops --copy ACTIVATION --header "$folder/crlf.h"
tr -d '\r' <"$folder/out" >"$folder/lf.c"
same 'ops --copy: lines end in CR LF: another text' "$folder/lf.c" "$folder/activation.c"
program=$sanitized
# A header that is truncated, or whose macros use each other or never end: a message or partial output, and no crash.
for bytes in 0 1 700 20000 60000 100000 200000; do
    head -c "$bytes" nnrt_ops.h >"$folder/cut.h"
    refused 1 "ops --copy: $bytes bytes of a header" 'has no function nnrt_softmax_f32' ops --copy SOFTMAX --header "$folder/cut.h"
done
{
    printf '#define A0(x) x A1(x) x\n#define A1(x) A0(x) #x ## x ##\n#define B(x, ...) __VA_ARGS__ B(x\nA0(A1(A0(1)))\nB(B(2, 3), (4)\nB(1'
    printf '#if 1\n/* never ends'
} >"$folder/cut.h"
refused 1 'ops --copy: macros of each other' 'has no function' ops --copy SOFTMAX --header "$folder/cut.h"
{
    printf '#define A0(x) x x x x\n'
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf '#define A%d(x) A%d(x A%d(x) x)\n' "$i" "$((i - 1))" "$((i - 1))"; done
    printf 'A12(1)\n'
} >"$folder/cut.h"
refused 1 'ops --copy: macros without measure' 'expand to more than' ops --copy SOFTMAX --header "$folder/cut.h"
program=$plain
sed 's/? a->axis.count > 0 && ((listed/? a->axis.count > 0 \&\& (listed/' nnrt_ops.h >"$folder/cut.h"
t 1 'ops --copy: a bracket is missing' ops --copy SOFTMAX --header "$folder/cut.h"
says 'ops --copy: a bracket is missing' '^nnrt: the header is damaged: the brackets of a function do not match$'
program=$sanitized
# Search path of the header: next to the program, in the current folder, above the program, where it is installed; the
# program's folder comes from its path, or from PATH.
mkdir -p "$folder/there/bin" "$folder/there/include/nnrt" "$folder/empty"
cp "$shipped" "$folder/there/bin/nnrt-copy"
looks() { # NAME STATUS COMMAND...: run in an empty folder
    name=$1 want=$2
    shift 2
    (cd "$folder/empty" && "$@" ops --copy nnrt_shape) >"$folder/out" 2>"$folder/err"
    got=$?
    [ "$got" -eq "$want" ]
    verdict "$name: status $got, expected $want" $?
}
looks 'ops --copy: no header' 1 "$folder/there/bin/nnrt-copy"
says 'ops --copy: no header' "^nnrt: nnrt_ops.h is not found at $folder/there/bin/nnrt_ops.h, nnrt_ops.h, $folder/there/bin/../nnrt_ops.h, $folder/there/bin/../include/nnrt/nnrt_ops.h; set its path with --header PATH"
for place in bin include/nnrt .; do
    cp nnrt_ops.h "$folder/there/$place/nnrt_ops.h"
    looks "ops --copy: header in $place" 0 "$folder/there/bin/nnrt-copy"
    looks "ops --copy: header in $place, program in PATH" 0 env PATH="$folder/empty:$folder/there/bin:$PATH" nnrt-copy
    prints "ops --copy: header in $place" '^NNRT_ReturnCode nnrt_shape\('
    rm "$folder/there/$place/nnrt_ops.h"
done
cp nnrt_ops.h "$folder/empty/nnrt_ops.h"
looks 'ops --copy: header in the current folder' 0 "$folder/there/bin/nnrt-copy"

else
    skip 'ops --copy' 'nnrt_ops.h has no text of its own beside the amalgamation'
fi

total
