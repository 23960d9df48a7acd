#!/bin/sh
# test_example_ocr.sh FOLDER: texts in pictures.
set -u
. tests/tools/examples.sh

"$python" -B tests/tools/ocr_case.py "$folder" >"$folder/out" 2>"$folder/err"
verdict 'ocr: networks and pictures of ocr_case.py' $?

# texts NAME N LINE... : the program printed N texts, and these lines. Each side of a box of 100 x 20 pixels moves by
# 1.5 * 2000 / 240 = 12.5 pixels.
texts() {
    what=$1 number=$2
    shift 2
    [ "$(grep -cE '^[01]\.[0-9]{3}  ' "$folder/out")" -eq "$number" ] &&
        grep -qE "^$number texts?; detector [0-9.]+ ms, " "$folder/out"
    verdict "$what: $number texts" $?
    for line in "$@"; do
        grep -qxF -- "$line" "$folder/out"
        verdict "$what: no line $line" $?
    done
}

expect 'ocr' 0 "$bin/ocr" "$folder/good" "$folder/lines.png" -o "$folder/drawn.png"
texts 'ocr' 4 '1.000  28,28 152,28 152,72 28,72  ä茶 c'
head -n 2 "$folder/out" | tail -n 1 | grep -qxF '1.000  168,24 292,24 292,68 168,68  dd'
verdict 'ocr: two boxes of one line, the left one first' $?
texts 'ocr: text that runs down' 4 '1.000  62,138 62,262 18,262 18,138  cä'
texts 'ocr: text that is upside down' 4 '1.000  212,232 88,232 88,188 212,188  dc茶ä'
"$python" -B tests/tools/ocr_case.py "$folder" --drawn "$folder/drawn.png" >"$folder/out" 2>"$folder/err"
verdict 'ocr: boxes in the picture' $?
expect 'ocr in a picture that is scaled' 0 "$bin/ocr" "$folder/good" "$folder/wide.png"
texts 'ocr in a picture that is scaled' 1 '1.000  379,-5 621,-5 621,69 379,69  茶c'
expect 'ocr of a box that is too long for its height' 0 "$bin/ocr" "$folder/good" "$folder/line.png"
texts 'ocr of a box that is too long for its height' 1 '1.000  5,11 955,11 955,21 5,21  d'
# 42 degrees; the stairs of its pixels make it 0.7 pixels larger on each side
expect 'ocr of a turned box' 0 "$bin/ocr" "$folder/good" "$folder/turned.png"
texts 'ocr of a turned box' 1 '1.000  65,35 160,121 127,157 32,71  c'
expect 'ocr of pixels that touch diagonally' 0 "$bin/ocr" "$folder/good" "$folder/corners.png"
texts 'ocr of pixels that touch diagonally' 2
expect 'ocr of more boxes than it takes' 0 "$bin/ocr" "$folder/good" "$folder/many.png"
texts 'ocr of more boxes than it takes' 1000
for file in none pixel; do
    expect "ocr in $file.png" 3 "$bin/ocr" "$folder/good" "$folder/$file.png"
    texts "ocr in $file.png" 0
done

# fails FOLDER FILE MESSAGE: with the files in FOLDER the program fails, and names this file of it
fails() {
    expect "ocr with $1" 1 "$bin/ocr" "$folder/$1" "$folder/lines.png"
    shows "ocr with $1" err "$2: $3.*make ocr fetches"
    [ ! -s "$folder/out" ]
    verdict "ocr with $1: no output" $?
}
fails shape 'ch_PP-OCRv4_det_infer\.onnx' 'for float32\[1,3,256,320\] the only result must be float32\[1,1,256,320\]'
fails name 'ch_PP-OCRv4_det_infer\.onnx' ".*'x'"
fails classifier 'ch_ppocr_mobile_v2\.0_cls_infer\.onnx' 'for float32\[1,3,48,192\] the only result must be float32\[1,2\]'
fails dictionary 'ch_PP-OCRv4_rec_infer\.onnx' 'for float32\[1,3,48,160\] the only result must be float32\[1,20,4\]'
fails empty 'ch_PP-OCRv4_rec_infer\.onnx' 'for float32\[1,3,48,160\] the only result must be float32\[1,20,2\]'
fails long 'ch_PP-OCRv4_rec_infer\.onnx' 'for float32\[1,3,48,160\] the only result must be float32\[1,20,8192\]'
fails file 'file/ch_PP-OCRv4_rec_infer\.onnx' '.'
fails absent 'absent/ppocr_keys_v1\.txt' 'cannot be opened'
rm "$folder/file/ch_ppocr_mobile_v2.0_cls_infer.onnx"
fails file 'file/ch_ppocr_mobile_v2\.0_cls_infer\.onnx' '.'

head -c 200 $digits/sheet.png >"$folder/short.png"
for file in "$folder/short.png" "$folder/good/ch_PP-OCRv4_det_infer.onnx" "$folder"; do
    expect "ocr with the picture ${file##*/}" 1 "$bin/ocr" "$folder/good" "$file"
    shows "ocr with the picture ${file##*/}" err "${file##*/}: cannot be read as a PNG file .*convert photo\\.jpg"
done
expect 'ocr with a picture that is not there' 1 "$bin/ocr" "$folder/good" "$folder/absent.png"
shows 'ocr with a picture that is not there' err 'absent\.png: cannot be opened'
expect 'ocr without a place for its picture' 1 "$bin/ocr" "$folder/good" "$folder/lines.png" -o "$folder/absent/drawn.png"
shows 'ocr without a place for its picture' err 'absent/drawn\.png: cannot be written'
expect 'ocr --help' 0 "$bin/ocr" --help
shows 'ocr --help' out '^usage: ocr FOLDER PICTURE\.png \[-o OUT\.png\]$'
for arguments in '' 'a' 'a b c' 'a b -o' 'a b -x c' 'a b -o c d' '--nonsense b' '-o a b'; do
    usage ocr "$arguments"
done

# The networks themselves, if make ocr has fetched them: the texts of the drawing.
if [ -f build/ocr-data/ppocr_keys_v1.txt ]; then
    expect 'ocr: the drawn poster' 0 "$bin/ocr" build/ocr-data examples/ocr/picture.png
    "$python" -B examples/ocr/picture.py --texts >"$folder/texts"
    sed '$d; s/^[^ ]*  \([^ ]* \)\{4\} //' "$folder/out" | diff - "$folder/texts" >"$folder/err"
    verdict 'ocr: the texts of the poster' $?
else
    skip 'ocr: the networks' 'make ocr fetches them into build/ocr-data'
fi

total
