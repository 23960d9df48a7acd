#!/bin/sh
# test_example_vad.sh FOLDER: speech in sounds, and WAV files that are none.
set -u
. tests/tools/examples.sh

"$python" -B tests/tools/example_sounds.py "$folder"
verdict 'vad: sounds' $?
refused() {
    expect "vad: $1" 1 "$bin/vad" --model $digits/digits.onnx "$folder/$1.wav"
    shows "vad: $1" err "^$folder/$1\\.wav: .*$2"
}
refused float '32 bits in format 3, expected 16 bits in format 1'
refused bits8 '8 bits in format 1, expected 16'
refused bits24 '24 bits in format 1, expected 16'
refused extensible_float '16 bits in format 3, expected 16 bits in format 1'
refused rate44 '44100 samples per second, expected 16000 or 8000; convert it: sox '
refused rate0 '0 samples per second'
refused six '6 channels, expected 1 or 2'
refused none '0 channels, expected 1 or 2'
refused apart 'samples must be contiguous'
refused big 'is not a WAV file'
refused no_format 'precedes its format chunk'
refused short_format 'format is cut short'
refused no_data 'has no samples'
refused empty 'has no samples'
refused half 'has no samples'
refused beyond 'cut short before its samples'
refused absent 'cannot be opened'
for n in 0 3 11; do
    refused first$n 'is not a WAV file'
done
for n in 12 19 43 44; do
    refused first$n 'has no samples'
done
for n in 20 35; do
    refused first$n 'cut short'
done
expect 'vad with a folder' 1 "$bin/vad" --model $digits/digits.onnx "$folder"
shows 'vad with a folder' err '.'

# Valid sounds reach the model, which here is not supported by the program.
for name in plain stereo8 extensible chunks endless cut one; do
    expect "vad: $name" 1 "$bin/vad" --model $digits/digits.onnx "$folder/$name.wav"
    shows "vad: $name" err "digits\\.onnx: .*no input 'input'"
done
expect 'vad: cut' 1 "$bin/vad" --model $digits/digits.onnx "$folder/cut.wav"
shows 'vad: cut' err 'cut short: 3200 of 9999 bytes'
expect 'vad without a model' 1 "$bin/vad" --model "$folder/none.onnx" "$folder/plain.wav"
shows 'vad without a model' err 'none\.onnx: .*make vad'
expect 'vad with a file that is no model' 1 "$bin/vad" --model $digits/sheet.png "$folder/plain.wav"
shows 'vad with a file that is no model' err 'sheet\.png: .'
expect 'vad --help' 0 "$bin/vad" --help
shows 'vad --help' out '^usage: vad '
for arguments in '' '--nonsense' 'a.wav b.wav' '--threshold x a.wav' '--threshold 1.5 a.wav' '--threshold nan a.wav' \
    '--threshold 0 a.wav' 'a.wav --model'; do
    usage vad "$arguments"
done

# vad_finds NAME OUT: the printed pieces of speech equal speech.txt, to a fifth of a second.
vad_finds() {
    awk -v file=build/vad-data/speech.txt '
        BEGIN { while ((getline line < file) > 0) { split(line, a, " "); from[++n] = a[1]; to[n] = a[2] } }
        function near(x, y) { return x - y < 0.2 && y - x < 0.2 }
        $1 == "speech" { k++; if (k > n || !near($2, from[k]) || !near($5, to[k])) bad = 1 }
        END { exit n == 0 || k != n || bad }' "$2"
    verdict "$1: the pieces of speech.txt" $?
}

# Where the networks and the sounds are (make vad), it finds the words.
if [ -f build/vad-data/silero_vad_v5.onnx ] && [ -f build/vad-data/speech.txt ]; then
    for name in sound sound8 stereo; do
        expect "vad $name.wav" 0 "$bin/vad" build/vad-data/$name.wav
        shows "vad $name.wav" out '^memory [1-9][0-9]* bytes, the session'"'"'s buffer'
        vad_finds "vad $name.wav" "$folder/out"
    done
    expect 'vad noise.wav' 0 "$bin/vad" build/vad-data/noise.wav
    shows 'vad noise.wav' out '^0 pieces of speech, 0\.00 s of '
    expect 'vad --ascii' 0 "$bin/vad" --ascii build/vad-data/sound.wav
    ! LC_ALL=C grep -q '[^ -~]' "$folder/out"
    verdict 'vad --ascii: prints ASCII only' $?
    expect 'vad: a sound shorter than the picture is wide' 0 "$bin/vad" "$folder/one.wav"
    expect 'vad with the older network' 0 "$bin/vad" --model build/vad-data/silero_vad_legacy.onnx build/vad-data/sound8.wav
    shows 'vad with the older network' out '^[1-9] pieces of speech'
fi

total
