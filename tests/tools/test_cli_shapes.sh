#!/bin/sh
# test_cli_shapes.sh: models with dynamic dimensions: what info says, --dim, --fix, numbers as inputs, and commands that need sizes.
# Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models shapes imports

# pasted NAME STREAM PATTERN: the command that a message suggests works, and prints a line that matches.
pasted() {
    command=$(sed -n 's/^.*with some that fit: //p' "$folder/$2")
    if [ -n "$command" ] && sh -c "$command" >"$folder/out" 2>"$folder/err"; then pass; else fail "$1: the suggested command fails: $command"; fi
    prints "$1, pasted" "$3"
}

# ---- info without sizes ----

t 0 'info' info "$folder/image.onnx"
prints 'info: input' '^input       x  float32\[batch,3,height,width\]$'
prints 'info: output' '^output      y  float32\[batch,4,h,w\]$'
prints 'info: operators' '^ +1  Conv$'
prints 'info: parameters' '^parameters  108: float32 108 in 432 bytes$'
prints 'info: sizes' "^session     none: input 'x' is float32\[1,3,height,width\], .*image.onnx --dim height=64 --dim width=64$"
says 'info: batch' "^nnrt: note: input 'x' is float32\[batch,3,height,width\]: its batch is 1; --dim batch=N sets it$"
pasted 'info' out '^arena +[0-9]+ bytes'
t 0 'info --json' info "$folder/image.onnx" --json
py 'info --json' 'd["inputs"][0]["dims"] == ["batch", None, "height", "width"] and d["inputs"][0]["shape"] == [None, 3, None, None] and d["operators"] == {"Conv": 1} and d["no_session"].startswith("input")'
t 0 'info: subgraphs count' info "$folder/branch.onnx" --json
py 'info: subgraphs count' 'd["operators"] == {"Equal": 1, "If": 1, "Relu": 1, "MatMul": 1} and d["nodes"] == 4 and d["weights"]["float32"]["count"] == 8'
t 0 'info: operators that are not supported' info "$folder/fly.onnx"
prints 'info: operators that are not supported' '^ +2  StringConcat$'
prints 'info: operators that are not supported, all' "^session     none: operators that are not supported .*Fly x1, ai.onnx.ml.ZipMap x1"
t 0 'info: a domain' info "$folder/ort.onnx"
prints 'info: a domain' '^ +1  com[.]microsoft[.]MoE$'
t 0 'info: a shape that does not fit' info "$folder/channels2.onnx"
prints 'info: a shape that does not fit' "^session     none: ONNX node 0 '' \(Conv\): W 'w'"
refused 2 'info --memory needs sizes' 'image.onnx --memory --dim batch=1 --dim height=64 --dim width=64' info "$folder/image.onnx" --memory --dim batch=1

# ---- commands that need sizes name them ----

refused 2 'bench' "^nnrt: input 'x' is float32\[2,3,height,width\], and the sizes of its dynamic dimensions are not given; with some that fit: " bench "$folder/image.onnx" --reps 1 --dim batch=2
pasted 'bench' err '^run +min'
refused 2 'run' 'with some that fit: ' run "$folder/wave.onnx" --input random --dim N=3
pasted 'run' err '^y  float32\[3,2\]$'
refused 2 'report' 'with some that fit: ' report "$folder/pair.onnx" -o "$folder/report.html"
pasted 'report' err 'report.html'
refused 2 'compare' 'with some that fit: ' compare "$folder/pair.onnx" --device reference --device auto
pasted 'compare' err '^output    y  float32'
refused 2 'emit-c' 'with some that fit: ' emit-c "$folder/pair.onnx" -o "$folder/pair.h"
pasted 'emit-c' err ''
refused 2 'convert, if the import needs sizes' "SplitToSequence requires a fixed size .*with some that fit: " convert "$folder/parts.onnx" "$folder/parts.nnrt"
pasted 'convert, if the import needs sizes' err 'parts.nnrt'
t 0 'convert keeps dynamic dimensions' convert "$folder/pair.onnx" "$folder/pair.nnrt"
t 0 'info of a .nnrt file' info "$folder/pair.nnrt"
prints 'info of a .nnrt file' '^            b  float32\[3,\?\]$'
prints 'info of a .nnrt file: operators' '^ +1  ADD_FUSION$'
prints 'info of a .nnrt file: no session' '^session     none: .* --shape a=3,64 --shape b=3,64$'
pasted 'info of a .nnrt file' out '^arena'
t 0 'info of a .nnrt file --json' info "$folder/pair.nnrt" --json
py 'info of a .nnrt file --json' 'd["no_session"] and [o["name"] for o in d["outputs"]] == ["y"]'
refused 2 'a name for a shell' "--dim 'it'\\\\''s; \\\$h=64'\$" run "$folder/named.onnx" --input random
pasted 'a name for a shell' err '^y  float32\[2,64\]$'
refused 2 'batch' "image.onnx --input $folder/eight.npy --output $folder/b --dim height=64 --dim width=64\$" batch "$folder/image.onnx" --input "$folder/eight.npy" --output "$folder/b"
refused 2 'dimensions without a name' "--shape 'a b=2,64' --shape c=2,64\$" run "$folder/plain.onnx" --input random
pasted 'dimensions without a name' err '^y  float32\[2,64\]$'
refused 2 'no usual size' "^nnrt: input 'x' is float32\[1,k\], and the sizes of its dynamic dimensions are not given; --dim NAME=N or --shape sets them\$" bench "$folder/seven.onnx" --dim N=1
refused 2 'one axis is no batch' "input 'x' is float32\[length\]" bench "$folder/list.onnx"
t 0 '--max is a size' bench "$folder/image.onnx" --max 2,3,16,16 --reps 1

# ---- --dim ----

t 0 '--dim' run "$folder/image.onnx" --dim height=8 --dim width=9 --dim batch=2 --input random
prints '--dim' '^y  float32\[2,4,6,7\]$'
silent '--dim'
t 0 '--dim of two inputs' run "$folder/pair.onnx" --dim t=5 --input random
prints '--dim of two inputs' '^y  float32\[3,5\]$'
t 0 'the same name, the same size' run "$folder/pair.onnx" --shape a=3,6 --input random
prints 'the same name, the same size' '^y  float32\[3,6\]$'
refused 2 '--dim of another name' "^nnrt: --dim heigth=8: no dimension of an input is named 'heigth'; the names are 'height', 'batch', 'width'$" run "$folder/image.onnx" --dim heigth=8 --input random
refused 2 '--dim without names' '^nnrt: --dim n=8: no dimension of an input has a name; --shape sets their sizes$' run "$folder/plain.onnx" --dim n=8 --input random
for bad in height height= height=x height=-1 height=4294967296; do
    refused 2 "--dim $bad" "^nnrt: --dim $bad: expected NAME=N" run "$folder/image.onnx" --dim "$bad" --input random
done
refused 2 '--dim and --shape' "^nnrt: --shape 1,3,9,8: input 'x' is float32\[batch,3,8,width\]$" run "$folder/image.onnx" --dim height=8 --shape 1,3,9,8 --input random

# ---- numbers as values, --fix ----

t 0 'numbers' run "$folder/list.onnx" --input x=1,-2.5,3e1 --output-dir "$folder/o"
py 'numbers' "same(load('o/y.npy'), np.array([-1, 2.5, -30], 'float32'))"
t 0 'one number fills the input' run "$folder/pair.onnx" --dim t=2 --input a=0.5 --input b=1,2,3,4,5,6 --output-dir "$folder/o"
py 'one number fills the input' "same(load('o/y.npy'), np.array([[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]], 'float32'))"
t 0 'numbers of all types' run "$folder/types.onnx" --input b=true,0 --input i=-128,127 --input u=18446744073709551615,7 --input s=0.1,-inf --output-dir "$folder/o"
py 'numbers of all types' "same(load('o/b_out.npy'), np.array([True, False])) and same(load('o/i_out.npy'), np.array([-128, 127], 'int8')) and same(load('o/u_out.npy'), np.array([2**64 - 1, 7], 'uint64')) and same(load('o/s_out.npy'), np.array([0.1, -np.inf], 'float16'))"
refused 2 'too large a number' "^nnrt: --input i=..: '128' is no value of int8$" run "$folder/types.onnx" --input random --input i=128,0
refused 2 'a fraction for integers' "'1.5' is no value of int8" run "$folder/types.onnx" --input random --input i=1.5,0
refused 2 'a number for bool' "'2' is no value of bool" run "$folder/types.onnx" --input random --input b=2,0
refused 2 'too many numbers' "^nnrt: --input i=1,2,3: 3 numbers, the input takes int8\[2\]$" run "$folder/types.onnx" --input random --input i=1,2,3
refused 1 'no number and no file' 'cannot' run "$folder/types.onnx" --input random --input i=1,x
t 0 '--fix' info "$folder/branch.onnx" --fix sr=16000 --dim n=8 --json
py '--fix: the input is gone' '[i["name"] for i in d["inputs"]] == ["x"] and "IF" not in d["operators"]'
t 0 '--fix, convert' convert "$folder/branch.onnx" "$folder/fixed.nnrt" --fix sr=16000
t 0 '--fix, converted' run "$folder/fixed.nnrt" --input "$folder/eight.npy" --output-dir "$folder/o"
py '--fix, converted' "same(load('o/y.npy'), np.maximum(load('eight.npy'), 0))"
for c in 'bench --reps 1' 'report -o /dev/null' 'compare --device reference --device auto' 'dot' 'emit-c -o /dev/null' 'run --input random'; do
    # shellcheck disable=SC2086
    t 0 "--fix, $c" ${c%% *} "$folder/branch.onnx" --fix sr=16000 --dim n=8 ${c#"${c%% *}"}
done
refused 2 '--fix of no input' "^nnrt: --fix q=1: the model has no input 'q'; its inputs are" run "$folder/branch.onnx" --fix q=1 --input random
refused 2 '--fix, another type' "'1.5' is no value of int64" run "$folder/branch.onnx" --fix sr=1.5 --input random
t 0 '--fix of a .nnrt file: convert' convert "$folder/pair.onnx" "$folder/pair.nnrt"
t 0 '--fix of a .nnrt file' run "$folder/pair.nnrt" --shape a=3,2 --shape b=3,2 --fix b=1.5 --input a=2 --output-dir "$folder/o"
py '--fix of a .nnrt file' "same(load('o/y.npy'), np.full((3, 2), 3.5, 'float32'))"
t 0 '--fix of a .nnrt file: info' info "$folder/pair.nnrt" --shape a=3,2 --shape b=3,2 --fix b=1 --json
py '--fix of a .nnrt file: info' '[i["name"] for i in d["inputs"]] == ["a"]'
for c in 'bench --reps 1' 'report -o /dev/null' 'compare --device reference --device auto' 'dot' 'emit-c -o /dev/null'; do
    # shellcheck disable=SC2086
    t 0 "--fix of a .nnrt file, ${c%% *}" ${c%% *} "$folder/pair.nnrt" --shape a=3,2 --shape b=3,2 --fix b=1 ${c#"${c%% *}"}
done
t 0 '--fix of a .nnrt file, convert' convert "$folder/pair.nnrt" "$folder/one.nnrt" --shape a=3,2 --shape b=3,2 --fix b=1
t 0 '--fix of a .nnrt file, converted' run "$folder/one.nnrt" --input a=2 --output-dir "$folder/o"
py '--fix of a .nnrt file, converted' "same(load('o/y.npy'), np.full((3, 2), 3, 'float32'))"
t 0 'convert --shape of a .nnrt file' convert "$folder/pair.nnrt" "$folder/sized.nnrt" --shape a=3,2
t 0 'convert --shape of a .nnrt file: both inputs' info "$folder/sized.nnrt" --json
py 'convert --shape of a .nnrt file: both inputs' '[i["shape"] for i in d["inputs"]] == [[3, 2]] * 2'
t 0 '--fix of all inputs' run "$folder/pair.nnrt" --shape a=3,2 --shape b=3,2 --fix b=1.5 --fix a=2 --output-dir "$folder/o"
py '--fix of all inputs' "same(load('o/y.npy'), np.full((3, 2), 3.5, 'float32'))"
"$python" -B tests/formats/tflite/model.py "$folder/rows.tflite" rows
t 0 '--fix of a .tflite file' run "$folder/rows.tflite" --fix x=1,2,3,4,5,6,7,8 --output-dir "$folder/o"
py '--fix of a .tflite file' "same(load('o/y.npy'), np.arange(1, 9, dtype='float32').reshape(2, 4))"
refused 2 '--fix of a .nnrt file, no such input' "the model has no input 'q'; its inputs are" run "$folder/pair.nnrt" --fix q=0 --input random

# ---- a branch that cannot compute fails only if it is taken ----

for m in branch branch2; do
    relu=16000 matmul=8000
    [ $m = branch ] || { relu=8000 matmul=16000; }
    t 0 "$m: the other branch does not fit" run "$folder/$m.onnx" --input x="$folder/eight.npy" --input sr=$relu --output-dir "$folder/o"
    py "$m: the other branch does not fit" "same(load('o/y.npy'), np.maximum(load('eight.npy'), 0))"
    refused 1 "$m: the branch is taken" "^nnrt: the run failed: node .*\(MatMul\): 'x' float32\[1,8\] and 'w' float32\[4,2\]: 8 columns must equal 4 rows" run "$folder/$m.onnx" --input x="$folder/eight.npy" --input sr=$matmul
    t 0 "$m: a size that fits" run "$folder/$m.onnx" --input x="$folder/quad.npy" --input sr=$matmul --output-dir "$folder/o"
    py "$m: a size that fits" "same(load('o/y.npy'), np.array([[6, 6]], 'float32'))"
    t 0 "$m: a size that fits, the other branch" run "$folder/$m.onnx" --input x="$folder/quad.npy" --input sr=$relu --output-dir "$folder/o"
    py "$m: a size that fits, the other branch" "same(load('o/y.npy'), load('quad.npy'))"
    t 0 "$m: emit-c" emit-c "$folder/$m.onnx" --dim n=8 --input sr=$relu -o "$folder/$m.h"
done

# ---- sequences and optional values ----

t 0 'sequence: info' info "$folder/tensors.onnx"
prints 'sequence: info, input' '^input       x  sequence of float32\[n\]$'
prints 'sequence: info, optional input' '^            o  optional of float32\[2\]$'
prints 'sequence: info, no length' "^session     none: input 'x' is a sequence of unknown length"
t 0 'sequence: info of two tensors' info "$folder/tensors.onnx" --shape x=2 --shape 'x[0]=3' --shape 'x[1]=1'
prints 'sequence: info of two tensors' '^output      c  float32\[4\]$'
prints 'sequence: info of two tensors, results' '^            y\[1\]  float32\[1\]$'
t 0 'sequence: run' run "$folder/tensors.onnx" --input 'x[0]=1,2' --input 'x[1]=3' --shape 'x[0]=2' --shape 'x[1]=1' --output-dir "$folder/o"
py 'sequence: run' "same(load('o/c.npy'), np.array([1, 2, 3], 'float32')) and same(load('o/y_1_.npy'), np.array([3], 'float32')) and not load('o/h.npy')"
t 0 'sequence: an optional value' run "$folder/tensors.onnx" --shape x=1 --input 'x[0]=1,2' --shape 'x[0]=2' --input o=5,6 --output-dir "$folder/o"
py 'sequence: an optional value' "load('o/h.npy') and same(load('o/c.npy'), np.array([1, 2], 'float32'))"
t 0 'sequence: convert' convert "$folder/tensors.onnx" "$folder/tensors.nnrt" --shape x=2 --shape 'x[0]=3' --shape 'x[1]=1'
t 0 'sequence: a .nnrt file' info "$folder/tensors.nnrt"
prints 'sequence: a .nnrt file' '^            x\[1\]  float32\[1\]$'
refused 2 'sequence: no length' "input 'x' is a sequence of tensors: give each, --input x\[0\]=FILE --input x\[1\]=FILE .., or their number \(at most 4096\), --shape x=2" run "$folder/tensors.onnx" --input random
for option in '--shape x=4097' '--shape x=2,3' '--input x=1,2' '--input x[4096]=1' '--input x[]=1'; do
    # shellcheck disable=SC2086  # an option and its value
    refused 2 "sequence: $option" "input 'x' is a sequence of tensors: give each" run "$folder/tensors.onnx" $option
done
refused 2 'sequence: no shape' "x\[1\]" run "$folder/tensors.onnx" --shape x=2 --input random --shape 'x[0]=3'
refused 1 'sequence: a value of other axes' 'takes float32\[n?\?\]' run "$folder/tensors.onnx" --input "x[0]=$folder/eight.npy"

if grep -rn 'taken as 1' tools bindings; then fail 'a size is guessed'; else pass; fi

total
