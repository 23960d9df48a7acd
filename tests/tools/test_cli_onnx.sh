#!/bin/sh
# test_cli_onnx.sh: ONNX files: cost, unsupported parts, quantized arithmetic, constants in other files, pipes.
# Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models imports external sets

# ---- cost of loading a file ----

refused 1 'a small file that asks for much' 'bomb.onnx: the import takes more than [0-9]+ bytes, the budget for [0-9]+ bytes of file \(nnrt_onnx_desc.budget 2 raises it\); here --budget N does' dot "$folder/bomb.onnx"
t 0 'a small file that may have it' dot "$folder/bomb.onnx" --budget 200
t 0 'many inputs' info "$folder/names4000.onnx" --json
py 'many inputs' 'len(d["inputs"]) == 4000'
py 'four times the inputs, about four times the time' "(lambda t: t(4000) < 9 * t(1000))(lambda n: min(__import__('timeit').repeat(lambda: __import__('subprocess').run([r'$nnrt', 'info', F + 'names%d.onnx' % n, '--json'], capture_output=True, check=True), number=1, repeat=3)))"
refused 1 'a fault in the order of axes that the file has' "ONNX node 0 '' \(Conv\): W 'w' is float32\[4,2,3,3\], which requires 2 channels .*X 'x' is float32\[1,3,8,8\] with 3 channels" dot "$folder/channels2.onnx"

refused 1 'a newer operator set, told once' 'newer.onnx: the file has operator set 29, the newest supported one is 28$' dot "$folder/newer.onnx"
refused 1 'an operator that is read in older sets' 'Upsample x1 \(supported in sets 1 to 9\)$' dot "$folder/upsample.onnx"
refused 1 'an attribute that is not read' "\(Relu\): attribute 'antialias' is not supported$" dot "$folder/antialias.onnx"

# ---- a model that ends before the file does ----

refused 1 'what stands before missing operators' "Fly x1; nnrt_onnx_desc.outputs 'n' leaves them out; here --outputs NAME,... does\$" dot "$folder/cut.onnx"
for c in info bench dot; do t 0 "$c --outputs" $c "$folder/cut.onnx" --outputs n; done
t 0 'run --outputs' run "$folder/cut.onnx" --outputs n,a/b --input "$folder/four.npy" --output-dir "$folder/cut"
py 'run --outputs' "same(load('cut/n.npy'), -load('cut/a_b.npy')) and same(load('cut/a_b.npy'), np.maximum(load('four.npy'), 0) + np.arange(1, 5, dtype='float32'))"
t 0 '--outputs twice' info "$folder/cut.onnx" --outputs n --outputs=r,a/b --json
py '--outputs twice' "[o['name'] for o in d['outputs']] == ['n', 'r', 'a/b'] and [i['name'] for i in d['inputs']] == ['x'] and d['nodes'] == 3"
t 0 'convert --outputs' convert "$folder/cut.onnx" "$folder/cut.nnrt" --outputs n
t 0 'what convert --outputs wrote' info "$folder/cut.nnrt" --json
py 'what convert --outputs wrote' "[o['name'] for o in d['outputs']] == ['n'] and [i['name'] for i in d['inputs']] == ['x']"
t 0 'emit-c --outputs' emit-c "$folder/cut.onnx" --outputs n -o - --name cut
prints 'emit-c --outputs' 'cut_run'
t 0 'check --outputs' check "$folder/cut.onnx" --outputs r --data "$folder/cutset"
fed "$folder/cut.onnx" 0 '--outputs of standard input' info - --outputs n
prints '--outputs of standard input' '^output +n '
refused 1 '--outputs that are not there' "cut.onnx: the graph has no value 'a'; the nearest names are '.', '.', '.'\$" info "$folder/cut.onnx" --outputs a
refused 1 '--outputs by the name of a node' "the graph has no value 'first'; the node of this name has the outputs 'r'\$" run "$folder/cut.onnx" --outputs first --input random
refused 1 '--outputs with a comma too many' "the graph has no value ''" info "$folder/cut.onnx" --outputs n,
refused 1 '--outputs with a name twice' "output 'n' is listed twice\$" info "$folder/cut.onnx" --outputs n,r,n
refused 2 '--outputs of nothing' '--outputs does not take' info "$folder/cut.onnx" --outputs ''
refused 2 '--outputs of a .nnrt file' '--outputs is for ONNX and .tflite files, .*cut.nnrt is a .nnrt file' info "$folder/cut.nnrt" --outputs n
refused 2 'an input that is cut away' "the model has no input 'i'; its input is 'x'" info "$folder/cut.onnx" --outputs n --shape i=4

# ---- quantized arithmetic ----

t 0 'between casts' info "$folder/qdq.onnx" --json
py 'between casts' 'casts(d, 1, 1)'
for c in run bench check dot convert emit-c; do
    t 0 "$c --help" $c --help
    prints "$c --help has --no-quantize" '^  --no-quantize '
done
t 0 'info --no-quantize' info "$folder/qdq.onnx" --no-quantize --json
py 'info --no-quantize' 'casts(d, 2, 2)'
for o in '' --no-quantize; do
    t 0 "run $o" run "$folder/qdq.onnx" $o --input "$folder/four.npy" --output-dir "$folder/qdq"
    py "run $o" "same(load('qdq/y.npy'), between(load('four.npy')))"
done
t 0 'convert --no-quantize' convert "$folder/qdq.onnx" "$folder/qdq.nnrt" --no-quantize
t 0 'what convert --no-quantize wrote' info "$folder/qdq.nnrt" --json
py 'what convert --no-quantize wrote' 'casts(d, 2, 2)'
t 0 'convert of that with --no-quantize' convert "$folder/qdq.nnrt" "$folder/qdq2.nnrt" --no-quantize
t 0 'what that wrote' info "$folder/qdq2.nnrt" --json
py 'what that wrote' 'casts(d, 2, 2)'
refused 2 '--int8-io for run' 'unknown option --int8-io' run "$folder/qdq.onnx" --int8-io
t 0 'convert of that' convert "$folder/qdq.nnrt" "$folder/qdq2.nnrt"
t 0 'what convert of that wrote' info "$folder/qdq2.nnrt" --json
py 'what convert of that wrote' 'casts(d, 1, 1)'
refused 2 'ops --no-quantize' 'unknown option --no-quantize' ops --no-quantize

# ---- constants in other files ----

# How a file is opened depends on the macros for POSIX, which programs of users do not define: README's compile line,
# here by clang, and without the device cpu, which takes three quarters of the time.
holds 'hello.c, compiled as README says' clang -std=c99 -DNNRT_CPU=0 -I. examples/hello.c -o "$folder/hello" -lm
# external STATUS NAME PATTERN: all three builds end with that status within ten seconds, a failure with that message
external() {
    for build in "$nnrt run" "$shipped run" "$folder/hello"; do
        case $build in *run) rest='--input random' ;; *) rest='' ;; esac
        # shellcheck disable=SC2086  # several words, or none
        timeout 10 $build "$folder/x/d/$2.onnx" $rest >"$folder/out" 2>"$folder/err"
        got=$?
        [ "$got" -eq "$1" ]
        verdict "external data: $2: $build: status $got, expected $1" $?
        [ "$1" -eq 0 ] || says "external data: $2: $build" "$3"
    done
}
for c in ok dot sub selflink; do external 0 $c; done
for c in link abslink dirlink loop dangling; do external 1 $c "its external file '[^']+' does not exist or is outside the model.s folder"; done
for c in fifo dir; do external 1 $c 'cannot be opened, or is not a regular file'; done
external 1 dotdot 'leaves the model.s folder'
external 1 absolute 'is an absolute path'

# ---- models from pipes ----

mkfifo "$folder/pipe"
into_pipe() { timeout 20 sh -c 'cat "$1" >"$2"' sh "$1" "$folder/pipe"; } # waits for a reader, but not for ever
into_pipe $digits/digits.onnx &
fed "$folder/pipe" 0 'a model from standard input' run - --input $digits/digit_7.png --top 1
prints 'a model from standard input' '^  7  '
wait $!
into_pipe $digits/digits.onnx &
t 0 'a model from a pipe' run "$folder/pipe" --input $digits/digit_3.png --top 1
prints 'a model from a pipe' '^  3  '
wait $!
t 0 'convert' convert $digits/digits.onnx "$folder/piped.nnrt"
fed "$folder/piped.nnrt" 0 'a .nnrt file from standard input' info - --json
py 'a .nnrt file from standard input' 'd["inputs"][0]["name"] == "image"'
into_pipe "$folder/open.onnx" &
t 0 'sets of data with a model from a pipe' check "$folder/pipe" --data "$folder/good"
prints 'sets of data with a model from a pipe' '^3 passed, 0 failed$'
wait $!
into_pipe "$folder/x/d/ok.onnx" &
fed "$folder/pipe" 1 'other files of a model from standard input' run - --input random
says 'other files of a model from standard input' 'its data are in another file: set nnrt_onnx_desc.path'
wait $!

total
