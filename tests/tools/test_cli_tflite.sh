#!/bin/sh
# test_cli_tflite.sh: .tflite files with each command: dynamic dimensions, signatures, states, damaged files. Arguments:
# cli.sh.
set -u
. tests/tools/cli.sh
models tflite

# small.tflite: int8 convolution, dense layer and softmax; input image, output scores. The type follows from the bytes.
tfl=$folder/small.tflite
"$python" -B tests/formats/tflite/model.py "$tfl" && cp "$tfl" "$folder/tflite.onnx"
t 0 'info, .tflite' info "$tfl" --device reference
prints 'info, .tflite: input' '^input +image +int8\[1,3,3,1\]$'
prints 'info, .tflite: operators' '^ +1 +FULL_CONNECTION$'
t 0 'run, .tflite with another name' run "$folder/tflite.onnx" --input random --device reference --output-dir "$folder/tflite"
fed "$tfl" 0 'run, .tflite from standard input' run - --input random --device reference --output-dir "$folder/tflite2"
same 'run, .tflite: standard input has other results' "$folder/tflite/scores.npy" "$folder/tflite2/scores.npy"
t 0 'info, .tflite: another batch' info "$tfl" --outputs c --shape image=2,3,3,1
prints 'info, .tflite: another batch' '^input +image +int8\[2,3,3,1\]$'
for images in batch2 first second; do
    t 0 "run, .tflite: another batch, $images" run "$tfl" --outputs c --shape "image=$([ $images = batch2 ] && echo 2 || echo 1),3,3,1" --input "$folder/$images.npy" --output-dir "$folder/$images"
done
py 'run, .tflite: another batch has the results of both images' '(lambda a: a.shape == (2, 2, 2, 2) and bool((a == np.concatenate([np.load(F + n + "/c.npy") for n in ("first", "second")])).all()))(np.load(F + "batch2/c.npy"))'
refused 1 'info, .tflite: a batch that RESHAPE forbids' 'RESHAPE.* has 16 elements, which do not fill int8\[1,8\]' info "$tfl" --shape image=2,3,3,1
refused 2 'info, .tflite: another rank' "input 'image' is int8" info "$tfl" --shape image=3,3,1
for kind in batch fixed rows; do "$python" -B tests/formats/tflite/model.py "$folder/$kind.tflite" $kind; done
t 0 'info, .tflite: a dynamic dimension' info "$folder/batch.tflite" --max 4,1,3 --device reference
prints 'info, .tflite: a dynamic dimension' '^input +x +float32\[\?,1,3\]'
t 0 'run, .tflite: a dynamic dimension' run "$folder/batch.tflite" --input "$folder/rows4.npy"
prints 'run, .tflite: the input sets a dynamic dimension' '^y  float32\[4,1,3\]$'
t 0 'run, .tflite: a dynamic dimension is 1 by default' run "$folder/batch.tflite" --input random
says 'run, .tflite: a dynamic dimension is 1 by default' "input 'x' is float32\[\?,1,3\]: its batch is 1; --shape sets it"
t 0 'run, .tflite: --max and --shape of a dynamic dimension' run "$folder/batch.tflite" --max 4,1,3 --shape 2,1,3 --input random
prints 'run, .tflite: --max and --shape of a dynamic dimension' '^y  float32\[2,1,3\]$'
t 0 'convert, .tflite: a dynamic dimension' convert "$folder/batch.tflite" "$folder/batch.nnrt"
t 0 'convert, .tflite: the shape of the file' info "$folder/batch.nnrt"
prints 'convert, .tflite: the shape of the file' '^input +x +float32\[1,1,3\]$'
t 0 'run, .tflite: RFFT2D requires the stored shape' run "$folder/fixed.tflite" --input random
silent 'run, .tflite: RFFT2D requires the stored shape'
prints 'run, .tflite: RFFT2D requires the stored shape' '^y  float32\[1,1,3\]$'
t 0 'info, .tflite: a stored size that does not fit' info "$folder/rows.tflite"
prints 'info, .tflite: a stored size that does not fit' "^session +none: input 'x' is float32\[1,\?\], and the sizes of its dynamic dimensions are not given"
t 0 'run, .tflite: a stored size that does not fit' run "$folder/rows.tflite" --shape 1,8 --input random
prints 'run, .tflite: a stored size that does not fit' '^y  float32\[2,4\]$'
t 0 'convert, .tflite: a stored size that does not fit' convert "$folder/rows.tflite" "$folder/rows.nnrt"
t 0 'convert, .tflite: a stored size that does not fit, run' run "$folder/rows.nnrt" --shape 1,12 --input random
prints 'convert, .tflite: a stored size that does not fit, run' '^y  float32\[3,4\]$'
t 0 'check, .tflite' check "$tfl" --input random --expected "scores=$folder/tflite/scores.npy" --device auto
t 0 'report, .tflite' report "$tfl" -o "$folder/tflite.html"
t 0 'convert, .tflite' convert "$tfl" "$folder/tflite.nnrt"
t 0 'check, .tflite as .nnrt' check "$folder/tflite.nnrt" --input random --expected "scores=$folder/tflite/scores.npy"
t 0 'compile, .tflite' compile "$tfl" --device fake:cache=yes -o "$folder/tflite2.nnrt"
t 0 'emit-c, .tflite' emit-c "$tfl" -o - --name small
prints 'emit-c, .tflite' 'small_run'
t 0 'info, .tflite --outputs' info "$tfl" --device reference --outputs d
prints 'info, .tflite --outputs' '^output +d +int8\[1,3\]$'
"$python" -B tests/formats/tflite/model.py "$folder/signed.tflite" control
t 0 'info, .tflite --signature' info "$folder/signed.tflite" --device reference --signature step
prints 'info, .tflite --signature' '^output +after +int32\[\]$'
t 0 'run, .tflite --signature' run "$folder/signed.tflite" --input random --device reference --signature detect
refused 1 'info, .tflite --signature of no name' "has no signature 'nope', it has 2: 'detect' 'step'" info "$folder/signed.tflite" --signature nope
refused 2 'info, --signature of a .nnrt file' '--signature is for .tflite files' info "$folder/tflite.nnrt" --signature x
refused 1 'info, .tflite --outputs of no tensor' "no tensor of the file has the name 'nope'" info "$tfl" --outputs nope
# States stay between the runs of --reps, also in a .nnrt file; other commands have them as inputs and outputs.
state=$folder/state.tflite
"$python" -B tests/formats/tflite/model.py "$state" state
t 0 'info, states' info "$state" --device reference
prints 'info, states' '^metadata +description=a test$'
for n in 1 2 3; do t 0 "run --reps $n" run "$state" --input random --device reference --reps $n --output-dir "$folder/reps$n"; done
t 0 'run, labels of the file' run "$state" --input random --device reference
prints 'run, labels of the file' '^  [01]  .*  (cat|dog)$'
! cmp -s "$folder/reps1/y.npy" "$folder/reps2/y.npy" && ! cmp -s "$folder/reps2/y.npy" "$folder/reps3/y.npy"
verdict 'run --reps: the state does not change' $?
t 0 'convert, states' convert "$state" "$folder/state.nnrt"
t 0 'run --reps, .nnrt' run "$folder/state.nnrt" --input random --device auto --reps 3 --output-dir "$folder/reps4"
t 0 'compare, states' compare "$state" --device reference --device auto
t 0 'run --dump, states' run "$state" --input random --device reference --dump "$folder/statedump"
t 0 'check, states' check "$state" --input random --expected "p=$folder/reps1/p.npy" --device reference
t 0 'emit-c, states' emit-c "$state" -o - --name kept
prints 'emit-c, states' 'kept_state_reset\(void \*state\)'
refused 1 'convert --state of no output' 'states, line 1: expected INPUT=OUTPUT' convert "$tfl" "$folder/loop.nnrt" --state image=nope
t 0 'convert --state of another type' convert "$tfl" "$folder/loop.nnrt" --state image=scores
refused 1 'run --state of another type' "input 'image' and output 'scores' differ" run "$folder/loop.nnrt" --device reference
{ printf '\034\000\000\000TFL3' && head -c 100 /dev/zero; } >"$folder/cut.tflite"
refused 1 'info, .tflite of zeros' 'damaged file: the vtable at byte 28 has 0 bytes, its table 0' info "$folder/cut.tflite"
head -c 1000 "$tfl" >"$folder/cut.tflite"
refused 1 'info, .tflite cut short' 'damaged file: the offset [0-9]+ at byte [0-9]+ leads out of the 1000 bytes' info "$folder/cut.tflite"

total
