#!/bin/sh
# test_example_face.sh FOLDER: faces in pictures.
set -u
. tests/tools/examples.sh

"$python" -B tests/tools/face_case.py "$folder" >"$folder/out" 2>"$folder/err"
verdict 'face: models and pictures of face_case.py' $?
# Positions by hand: in wide.png (input - margin) * 2, margin 0, 32; tall.png margin 32, 0; small.png (input - margin) /
# 4. The first face is the mean of two boxes, whose left sides are 88 and 96, with the weights sigmoid(2) and
# sigmoid(1).
expect 'face' 0 "$bin/face" "$folder/detector.tflite" "$folder/wide.png" -o "$folder/faces.png"
[ "$(grep -c '^face ' "$folder/out")" -eq 3 ]
verdict 'face: three faces' $?
shows 'face: two boxes of one face' out '^face 0\.881  box 91\.6 4\.0 171\.6 44\.0  .*  nose 122\.0 28\.0  mouth 120\.0 24\.0  '
shows 'face: a box that overlaps by less than 0.3' out '^face 0\.818  box 132\.0 4\.0 212\.0 44\.0 '
shows 'face: an anchor of the coarse layers; pixel and margin' out \
    '^face 0\.622  box 188\.0 60\.0 228\.0 100\.0  right eye 274\.0 -142\.0  left eye 55\.0 -175\.0  nose 210\.0 84\.0  '
shows 'face: the last line' out '^3 faces in [0-9.]+ ms; arena: [1-9][0-9]* bytes$'
"$python" -B tests/tools/face_case.py --drawn "$folder/wide.png" "$folder/faces.png" >"$folder/out" 2>"$folder/err"
verdict 'face: boxes and keypoints in the picture' $?
expect 'face in a picture that is taller than wide' 0 "$bin/face" "$folder/detector.tflite" "$folder/tall.png"
shows 'face in a picture that is taller than wide' out \
    '^face 0\.622  box 124\.0 124\.0 164\.0 164\.0  right eye 82\.0 50\.0  left eye -9\.0 82\.0  '
expect 'face in a small picture' 0 "$bin/face" "$folder/detector.tflite" "$folder/small.png"
shows 'face in a small picture' out \
    '^face 0\.622  box 23\.5 7\.5 28\.5 12\.5  right eye -0\.9 -21\.4  left eye 6\.9 -21\.9  '
expect 'face in a picture without one' 3 "$bin/face" "$folder/none.tflite" "$folder/wide.png"
shows 'face in a picture without one' out '^0 faces in '
expect 'face with another model' 1 "$bin/face" "$folder/other.tflite" "$folder/wide.png"
shows 'face with another model' err 'other\.tflite: the model must have one input \[1,128,128,3\]'
expect 'face with a file that is no model' 1 "$bin/face" $digits/sheet.png "$folder/wide.png"
shows 'face with a file that is no model' err 'sheet\.png: .'
expect 'face with a model that is not there' 1 "$bin/face" "$folder/absent.tflite" "$folder/wide.png"
shows 'face with a model that is not there' err 'absent\.tflite: .'
expect 'face with a picture that is not there' 1 "$bin/face" "$folder/detector.tflite" "$folder/none.png"
shows 'face with a picture that is not there' err 'none\.png: cannot be opened'
cp $digits/digits.onnx "$folder/model.png"
head -c 200 $digits/sheet.png >"$folder/short.png"
for file in "$folder/model.png" "$folder/short.png" "$folder/vast.png" "$folder/deep.png" "$folder"; do
    expect "face with the picture ${file##*/}" 1 "$bin/face" "$folder/detector.tflite" "$file"
    shows "face with the picture ${file##*/}" err "${file##*/}: cannot be read as a PNG file .*convert photo\\.jpg"
done
expect 'face without a place for its picture' 1 "$bin/face" "$folder/detector.tflite" "$folder/wide.png" -o "$folder/none/faces.png"
shows 'face without a place for its picture' err 'none/faces\.png: cannot be written'
expect 'face --help' 0 "$bin/face" --help
shows 'face --help' out '^usage: face MODEL PICTURE\.png \[-o OUT\.png\]$'
for arguments in '' 'a' 'a b c' 'a b -o' 'a b -o c -o d' '--nonsense' '-o a b'; do
    usage face "$arguments"
done

# The network itself, if make face has fetched it: each keypoint within 10 pixels of its place in the drawing, in which
# a head is 140 pixels high.
if [ -f build/face-data/face_detection_short_range.tflite ]; then
    expect 'face: the drawn faces' 0 "$bin/face" build/face-data/face_detection_short_range.tflite examples/face/picture.png
    "$python" -B examples/face/picture.py --keypoints >"$folder/drawn"
    grep '^face ' "$folder/out" | sort -n -k 4 | awk -v file="$folder/drawn" '
        function near(x, y, a, b) { return (x - a) ^ 2 + (y - b) ^ 2 <= 100 }
        { if ((getline line < file) < 1 || split(line, at, " ") != 8) bad = 1
          if (!near($10, $11, at[1], at[2]) || !near($14, $15, at[3], at[4]) || !near($17, $18, at[5], at[6]) ||
              !near($20, $21, at[7], at[8])) bad = 1 }
        END { exit bad || NR != 3 || (getline line < file) > 0 }'
    verdict 'face: the drawn faces, eyes, nose and mouth' $?
else
    skip 'face: the network' 'make face fetches it into build/face-data'
fi

total
