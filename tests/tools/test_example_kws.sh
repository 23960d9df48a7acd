#!/bin/sh
# test_example_kws.sh FOLDER: words in sounds, also as firmware.
set -u
. tests/tools/examples.sh

"$python" -B tests/tools/example_sounds.py "$folder"
verdict 'kws: sounds' $?
kws=examples/kws

# words TITLE WORD... : the program found these words, in this order
words() {
    title=$1
    shift
    [ "$(sed -n 's/^ *[0-9.]* s  \([a-z]*\) .*%$/\1/p' "$folder/out" | tr '\n' ' ' | sed 's/ $//')" = "$*" ]
    verdict "$title: the words $*" $?
}

expect 'kws' 0 "$bin/kws" $kws/words.wav
words 'kws' yes stop
shows 'kws' out '^memory: arena [1-9][0-9]* bytes, '
# Stereo, in which both channels are equal: the same words, times and scores. The first second has the first word.
# Silence has none.
"$python" - $kws/words.wav "$folder" <<'END'
import array, sys, wave
with wave.open(sys.argv[1], "rb") as f:
    x = array.array("h", f.readframes(f.getnframes()))
    assert f.getparams()[:3] == (1, 2, 16000)
for name, channels, samples in (("both", 2, [v for v in x for _ in range(2)]), ("first", 1, x[:16000]), ("nothing", 1, [0] * 48000)):
    with wave.open("%s/%s.wav" % (sys.argv[2], name), "wb") as f:
        f.setparams((channels, 2, 16000, 0, "NONE", ""))
        f.writeframes(array.array("h", samples).tobytes())
END
verdict 'kws: the words in stereo, a second of them, and silence' $?
grep ' s  ' "$folder/out" >"$folder/answers"
expect 'kws with two channels' 0 "$bin/kws" "$folder/both.wav"
grep ' s  ' "$folder/out" | cmp -s - "$folder/answers"
verdict 'kws with two channels: the words, times and scores of one' $?
expect 'kws with a second of sound' 0 "$bin/kws" "$folder/first.wav"
words 'kws with a second of sound' yes
for name in nothing one plain; do
    expect "kws without words: $name" 0 "$bin/kws" "$folder/$name.wav"
    words "kws without words: $name"
done
# 0.1 s have (1600 - 512) / 320 + 1 = 4 rows of ten features, int16
expect 'kws --features' 0 "$bin/kws" --features "$folder/rows" "$folder/plain.wav"
[ "$(wc -c <"$folder/rows")" -eq 80 ]
verdict 'kws --features: the number of rows' $?
expect 'kws --features without a place for it' 1 "$bin/kws" --features "$folder/none/rows" "$folder/plain.wav"
shows 'kws --features without a place for it' err 'none/rows: cannot be created'
expect 'kws with 8000 samples per second' 1 "$bin/kws" "$folder/stereo8.wav"
shows 'kws with 8000 samples per second' err 'stereo8\.wav: 8000 samples per second, expected 16000; convert it: sox '
expect 'kws with a file that is no sound' 1 "$bin/kws" $digits/sheet.png
shows 'kws with a file that is no sound' err 'sheet\.png: is not a WAV file'
expect 'kws with a sound that is not there' 1 "$bin/kws" "$folder/absent.wav"
shows 'kws with a sound that is not there' err 'absent\.wav: cannot be opened'
for model in $kws/kws.onnx $digits/digits_int8.onnx; do
    expect "kws with the model ${model##*/}" 1 "$bin/kws" --model $model $kws/words.wav
    shows "kws with the model ${model##*/}" err "${model##*/}: the model must have one input of 49 x 10 features"
done
expect 'kws without a model' 1 "$bin/kws" --model "$folder/none.onnx" $kws/words.wav
shows 'kws without a model' err 'none\.onnx'
expect 'kws --help' 0 "$bin/kws" --help
for arguments in '' 'a b' '--nonsense' '--model' '--features a'; do
    usage kws "$arguments"
done
# firmware.c, with the network planned for microcontrollers; make kws-firmware runs it in qemu
expect 'kws as firmware' 0 "$python" -B $kws/qemu.py --nnrt "$bin/nnrt" --kws "$bin/kws" --out "$folder/firmware" --host
shows 'kws as firmware' out '^the same 2 words, times and scores as on this machine: yes stop$'

total
