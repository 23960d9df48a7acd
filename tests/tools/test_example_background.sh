#!/bin/sh
# test_example_background.sh FOLDER: a person without the background.
set -u
. tests/tools/examples.sh

"$python" -B tests/tools/background_case.py "$folder" >"$folder/out" 2>"$folder/err"
verdict 'background: models and pictures of background_case.py' $?
for name in large small one; do
    expect "background: $name.png" 0 "$bin/background" "$folder/red.tflite" "$folder/$name.png" "$folder/cut.png"
    shows "background: $name.png" out '^person: [0-9]+\.[0-9] % of the picture$'
    "$python" -B tests/tools/background_case.py --check "$folder/$name.png" "$folder/cut.png" \
        >"$folder/out" 2>"$folder/err"
    verdict "background: colors and alpha of $name.png" $?
done
expect 'background with another model' 1 "$bin/background" "$folder/other.tflite" "$folder/small.png" "$folder/cut.png"
shows 'background with another model' err \
    'other\.tflite: expected \[1,256,256,3\] to \[1,256,256,1\] in float32; .make background.'
expect 'background with a file that is no model' 1 \
    "$bin/background" $digits/sheet.png "$folder/small.png" "$folder/cut.png"
shows 'background with a file that is no model' err 'sheet\.png: .'
expect 'background without a model' 1 "$bin/background" "$folder/absent.tflite" "$folder/small.png" "$folder/cut.png"
shows 'background without a model' err 'absent\.tflite: .'
cp $digits/digits.onnx "$folder/model.png"
head -c 200 $digits/sheet.png >"$folder/short.png"
expect 'background without a picture' 1 "$bin/background" "$folder/red.tflite" "$folder/absent.png" "$folder/cut.png"
shows 'background without a picture' err 'absent\.png: cannot be opened'
for file in "$folder/model.png" "$folder/short.png" "$folder/vast.png" "$folder"; do
    expect "background with the picture ${file##*/}" 1 "$bin/background" "$folder/red.tflite" "$file" "$folder/cut.png"
    shows "background with the picture ${file##*/}" err \
        "${file##*/}: cannot be read as a PNG file .*convert photo\\.jpg"
done
expect 'background without a place for its picture' 1 \
    "$bin/background" "$folder/red.tflite" "$folder/small.png" "$folder/none/cut.png"
shows 'background without a place for its picture' err 'none/cut\.png: cannot be written'
expect 'background --help' 0 "$bin/background" --help
shows 'background --help' out '^usage: background MODEL PICTURE\.png OUT\.png$'
for arguments in '' 'a' 'a b' 'a b c d' '--nonsense' '-o a b'; do
    usage background "$arguments"
done

# The network, if make background has fetched it: the drawn person.
if [ -f build/background-data/selfie_segmentation.tflite ]; then
    expect 'background: the drawn person' 0 "$bin/background" build/background-data/selfie_segmentation.tflite \
        examples/background/picture.png "$folder/cut.png"
    "$python" -B examples/background/picture.py --iou "$folder/cut.png" >"$folder/out" 2>"$folder/err"
    verdict 'background: intersection over union with the drawn person of at least 0.9' $?
else
    skip 'background: the network' 'make background fetches it into build/background-data'
fi

total
