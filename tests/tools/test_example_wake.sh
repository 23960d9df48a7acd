#!/bin/sh
# test_example_wake.sh FOLDER: wake words in sounds.
set -u
. tests/tools/examples.sh

"$python" -B tests/tools/wake_case.py "$folder" >"$folder/out" 2>"$folder/err"
verdict 'wake: models and sounds of wake_case.py' $?
expect 'wake' 0 "$bin/wake" "$folder" "$folder/pulses.wav" first last
printf '  %s s  %s  %s\n' 0.80 last 0.500 2.00 first 0.750 4.16 first 0.625 >"$folder/wanted"
grep '^ .* s  ' "$folder/out" | cmp -s - "$folder/wanted"
verdict 'wake: the words of wake_case.py, without the one that follows too soon' $?
shows 'wake: the last line' out \
    '^[0-9.]+ ms per 80 ms of sound; memory: [1-9][0-9]* bytes in 4 sessions, [1-9][0-9]* of '
[ "$(grep -cE '^(sound|first|last) ' "$folder/out")" -eq 3 ]
verdict 'wake: three rows of the picture' $?
expect 'wake --scores' 0 "$bin/wake" --scores "$folder" "$folder/pulses.wav" first last
awk '$4 > 0.1' "$folder/out" >"$folder/high"
printf '  %s s  %s  %s\n' 0.80 last 0.5000000 0.88 last 0.4375000 \
    2.00 first 0.7500000 2.64 first 0.8750000 4.16 first 0.6250000 | cmp -s - "$folder/high"
verdict 'wake --scores: the scores of wake_case.py' $?
[ "$(awk '{ print $3 }' "$folder/out" | sort | uniq -c | tr -s ' \n' ' ')" = ' 54 first 54 last ' ]
verdict 'wake --scores: one for each word and 80 ms, the last ones included' $?

for name in wide odd two whole; do
    expect "wake with the word $name" 1 "$bin/wake" "$folder" "$folder/pulses.wav" first "$name"
    shows "wake with the word $name" err \
        "/$name\\.onnx: [0-9]+ values to [12]; expected n \\* 96 to 1 in float32, n from 1 to 40"
done
expect 'wake without the word' 1 "$bin/wake" "$folder" "$folder/pulses.wav" absent
shows 'wake without the word' err '/absent\.onnx: .*cannot be opened'
expect 'wake without a folder' 1 "$bin/wake" "$folder/absent" "$folder/pulses.wav" first
shows 'wake without a folder' err 'absent/melspectrogram\.onnx: .*cannot be opened'
expect 'wake with another embedding' 1 "$bin/wake" "$folder/other" "$folder/pulses.wav" first
shows 'wake with another embedding' err 'other/embedding_model\.onnx: .*has size 80, but the given size is 76'
cp $digits/sheet.png "$folder/noise.onnx"
expect 'wake with a file that is no model' 1 "$bin/wake" "$folder" "$folder/pulses.wav" noise
shows 'wake with a file that is no model' err 'noise\.onnx: .'
expect 'wake with 8000 samples per second' 1 "$bin/wake" "$folder" "$folder/rate8.wav" first
shows 'wake with 8000 samples per second' err 'rate8\.wav: 8000 samples per second, expected 16000: sox '
expect 'wake without a sound' 1 "$bin/wake" "$folder" "$folder/absent.wav" first
shows 'wake without a sound' err 'absent\.wav: cannot be opened'
expect 'wake with a file that is no sound' 1 "$bin/wake" "$folder" $digits/sheet.png first
shows 'wake with a file that is no sound' err 'sheet\.png: is not a WAV file'
expect 'wake --help' 0 "$bin/wake" --help
shows 'wake --help' out '^usage: wake \[--scores\] FOLDER FILE\.wav WORD\.\.\.$'
for arguments in '' 'a' 'a b' '--scores a b' '--nonsense a b c' 'a b 1 2 3 4 5 6 7 8 9'; do
    usage wake "$arguments"
done

# The networks, if make wake has fetched them: each word of words.txt is found once, from its beginning to 0.6 s after
# its end, in order; none in the other sound.
if [ -f build/wake-data/hey_jarvis_v0.1.onnx ] && [ -f build/wake-data/words.txt ]; then
    words='hey_jarvis_v0.1 alexa_v0.1 weather_v0.1 hey_mycroft_v0.1 hey_rhasspy_v0.1'
    # shellcheck disable=SC2086  # words are meant to be split
    expect 'wake: sound.wav' 0 "$bin/wake" build/wake-data build/wake-data/sound.wav $words
    grep '^ .* s  ' "$folder/out" | awk -v file=build/wake-data/words.txt '
        { if ((getline line < file) < 1 || split(line, word, " ") != 3) bad = 1
          if ($3 != word[1] || $1 < word[2] || $1 > word[3] + 0.6) bad = 1 }
        END { exit bad || NR == 0 || (getline line < file) > 0 }'
    verdict 'wake: the words of words.txt' $?
    # shellcheck disable=SC2086
    expect 'wake: other.wav' 0 "$bin/wake" build/wake-data build/wake-data/other.wav $words
    ! grep -q '^ .* s  ' "$folder/out"
    verdict 'wake: no word in other.wav' $?
else
    skip 'wake: the networks' 'make wake fetches them into build/wake-data'
fi

total
