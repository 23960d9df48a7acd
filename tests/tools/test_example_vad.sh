#!/bin/sh
# test_example_vad.sh FOLDER: speech in sounds from files and pipes, WAV files that are none, and the firmware.
set -u
. tests/tools/examples.sh

"$python" -B tests/tools/example_sounds.py "$folder" && "$python" -B tests/tools/vad_case.py "$folder"
verdict 'vad: sounds and networks' $?
loud=$folder/loud.onnx
# shellcheck disable=SC2016  # a command for sh -c: reads file $1 from a pipe
piped='cat "$1" | "$2" --model "$3" -'
refused() {
    expect "vad: $1" 1 "$bin/vad" --model "$loud" "$folder/$1.wav"
    shows "vad: $1" err "^$folder/$1\\.wav: .*$2"
    if [ -f "$folder/$1.wav" ]; then
        expect "vad: $1 in a pipe" 1 sh -c "$piped" sh "$folder/$1.wav" "$bin/vad" "$loud"
        shows "vad: $1 in a pipe" err "^-: .*$2"
    fi
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
expect 'vad with a folder' 1 "$bin/vad" --model "$loud" "$folder"
shows 'vad with a folder' err '.'

# Valid sounds of 0.1 s, and of one sample.
for name in plain stereo8 extensible chunks endless cut one; do
    expect "vad: $name" 0 "$bin/vad" --model "$loud" "$folder/$name.wav"
    shows "vad: $name" out '^0 pieces of speech, 0\.00 s of 0\.[01]0 s$'
done
expect 'vad: cut' 0 "$bin/vad" --model "$loud" "$folder/cut.wav"
shows 'vad: cut' err '^.*cut\.wav: cut short: 1600 of 4999 samples are there$'

# picture TITLE COLUMNS: the picture has seven lines of this width
picture() {
    "$python" -c 'import sys
lines = [line for line in open(sys.argv[1], encoding="utf-8").read().split("\n") if any("\u2581" <= c <= "\u2588" for c in line)]
sys.exit([len(line) for line in lines] != [int(sys.argv[2])] * 7)' "$folder/out" "$2"
    verdict "vad: the picture of $1" $?
}

# endless NAME: unknown.wav is NAME.wav with the header of a pipe
endless() {
    { head -c 40 "$folder/$1.wav"; printf '\377\377\377\377'; tail -c +45 "$folder/$1.wav"; } >"$folder/unknown.wav"
}

# Speech as vad_case.py expects it, in files and pipes of 16 and 8 kHz, of known and unknown length.
for name in loud16 loud8; do
    expect "vad: $name" 0 "$bin/vad" --model "$loud" "$folder/$name.wav"
    grep '^speech' "$folder/out" | cmp -s - "$folder/$name.speech"
    verdict "vad: the speech in $name" $?
    shows "vad: the length of $name" out '^2 pieces of speech, [0-9.]+ s of 6\.11 s$'
    shows "vad: the memory of $name" out '^memory [1-9][0-9]* bytes, arena [1-9][0-9]* of them$'
    picture "$name, 191 pieces" 64
    endless $name
    for size in "$name" unknown; do
        expect "vad: $name in a pipe, length $size" 0 sh -c "$piped" sh "$folder/$size.wav" "$bin/vad" "$loud"
        grep '^speech' "$folder/out" | cmp -s - "$folder/$name.speech"
        verdict "vad: the speech in $name in a pipe, length $size" $?
        shows "vad: $name in a pipe, length $size" out '^2 pieces of speech, [0-9.]+ s of 6\.11 s$'
    done
    picture "$name, 191 pieces that become columns of 4" 48
done
# One column of two pieces, of which the second is loud.
endless spike
expect 'vad: a loud piece' 0 "$bin/vad" --model "$loud" "$folder/unknown.wav"
[ "$(grep -c '^█' "$folder/out")" -eq 4 ]
verdict 'vad: a loud piece in the picture' $?
# The probability of loud pieces rises to 1 only if the input has the end of the previous piece as well.
expect 'vad --threshold' 0 "$bin/vad" --threshold 0.95 --model "$loud" "$folder/loud16.wav"
shows 'vad --threshold' out '^2 pieces of speech, '
# Speech is printed when it ends: the pipe stays open until the line is there.
mkfifo "$folder/pipe"
"$bin/vad" --model "$loud" - <"$folder/pipe" >"$folder/live" 2>"$folder/err" &
exec 3>"$folder/pipe"
head -c 130000 "$folder/loud16.wav" >&3
tries=0
while ! grep -q '^speech' "$folder/live" && [ $tries -lt 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
head -n 1 "$folder/loud16.speech" | cmp -s - "$folder/live"
verdict 'vad: a line while the pipe is open' $?
exec 3>&-
wait $!
verdict 'vad: the end of the pipe' $?

# Outputs that are no probability; models with other inputs.
expect 'vad: NaN' 0 "$bin/vad" --model "$folder/nan.onnx" "$folder/loud16.wav"
shows 'vad: NaN' out '^0 pieces of speech'
expect 'vad: 1e30' 0 "$bin/vad" --model "$folder/huge.onnx" "$folder/loud16.wav"
shows 'vad: 1e30' out '^1 piece of speech, 5\.12 s of 6\.11 s$'
[ "$(grep -c '\(█\)\{54\}$' "$folder/out")" -eq 2 ]
verdict 'vad: 1e30 in the picture' $?
expect 'vad with another state' 1 "$bin/vad" --model "$folder/wide.onnx" "$folder/plain.wav"
shows 'vad with another state' err "wide\\.onnx: .*'state'.*expected Silero VAD 5 or 6; make vad"
expect 'vad without a state' 1 "$bin/vad" --model "$folder/other.onnx" "$folder/plain.wav"
shows 'vad without a state' err 'other\.onnx: .*expected Silero VAD 5 or 6; make vad'
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

# close MESSAGE FILE FILE: the same number of probabilities, which differ by at most 1e-5
close() {
    paste "$2" "$3" | awk 'NF != 2 || $1 - $2 > 1e-5 || $2 - $1 > 1e-5 { bad = 1 } END { exit NR == 0 || bad }'
    verdict "$1" $?
}

# One model for sounds of both rates, the rate an input of each run.
expect 'vad-stream' 0 "$bin/vad-stream" "$loud" "$folder/loud16.wav" "$folder/loud8.wav" "$folder/loud16.wav"
cat "$folder/loud16.probabilities" "$folder/loud8.probabilities" "$folder/loud16.probabilities" >"$folder/expected"
close 'vad-stream: the probabilities' "$folder/expected" "$folder/out"
for model in wide other none; do
    expect "vad-stream with $model.onnx" 1 "$bin/vad-stream" "$folder/$model.onnx" "$folder/plain.wav"
    shows "vad-stream with $model.onnx" err '\.(wav|onnx): .'
done
expect 'vad-stream with a sound that is not there' 1 "$bin/vad-stream" "$loud" "$folder/absent.wav"
shows 'vad-stream with a sound that is not there' err 'absent\.wav: cannot be opened'
usage vad-stream ''
usage vad-stream "$loud"

# firmware MODEL: firmware.c with the network planned for the reference device has the bits of vad-stream; make vad-firmware runs
# it in qemu
firmware() {
    expect "vad as firmware: $1" 0 "$python" -B examples/vad/qemu.py --model "$1" --device reference --exact --nnrt "$bin/nnrt" \
        --stream "$bin/vad-stream" --out "$folder/firmware" --host
    shows "vad as firmware: $1" out '^the same 85 probabilities as on this machine, '
}
firmware "$loud"

# vad_finds NAME OUT: the printed pieces of speech equal speech.txt, to a fifth of a second.
vad_finds() {
    awk -v file=build/vad-data/speech.txt '
        BEGIN { while ((getline line < file) > 0) { split(line, a, " "); from[++n] = a[1]; to[n] = a[2] } }
        function near(x, y) { return x - y < 0.2 && y - x < 0.2 }
        $1 == "speech" { k++; if (k > n || !near($2, from[k]) || !near($5, to[k])) bad = 1 }
        END { exit n == 0 || k != n || bad }' "$2"
    verdict "$1: the pieces of speech.txt" $?
}

# The networks and the sounds of make vad: it finds the words.
if [ -f build/vad-data/silero_vad_v5.onnx ] && [ -f build/vad-data/speech.txt ]; then
    for name in sound sound8 stereo; do
        expect "vad $name.wav" 0 "$bin/vad" build/vad-data/$name.wav
        vad_finds "vad $name.wav" "$folder/out"
    done
    expect 'vad with version 6' 0 "$bin/vad" --model build/vad-data/silero_vad_v6.onnx build/vad-data/sound8.wav
    vad_finds 'vad with version 6' "$folder/out"
    expect 'vad noise.wav' 0 "$bin/vad" build/vad-data/noise.wav
    shows 'vad noise.wav' out '^0 pieces of speech, 0\.00 s of '
    expect 'vad with version 4' 1 "$bin/vad" --model build/vad-data/silero_vad_legacy.onnx build/vad-data/sound.wav
    shows 'vad with version 4' err 'expected Silero VAD 5 or 6'
    firmware build/vad-data/silero_vad_v5.onnx
else
    skip 'vad: the networks' 'make vad fetches them into build/vad-data'
fi

total
