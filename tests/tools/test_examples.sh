#!/bin/sh
# test_examples.sh FOLDER: the examples, built into FOLDER with sanitizers, work as their README says, and report
# errors with the right status and a message. Runs from the root of the repository.
set -u
bin=$1
digits=examples/digits
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0

# verdict NAME CONDITION-STATUS
verdict() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1"
        head -n 8 "$folder/out" "$folder/err"
    fi
}

# expect NAME STATUS COMMAND... : the command ends with STATUS and leaves no sanitizer report
expect() {
    what=$1 status=$2
    shift 2
    "$@" >"$folder/out" 2>"$folder/err" </dev/null
    got=$?
    [ $got -eq "$status" ] && ! grep -qE 'Sanitizer|runtime error' "$folder/err"
    verdict "$what: status $got, expected $status" $?
}

# shows NAME FILE PATTERN
shows() {
    grep -qE "$3" "$folder/$2"
    verdict "$1: no line like $3" $?
}

expect 'hello' 0 "$bin/hello" $digits/digits.onnx
shows 'hello' out '^largest output: [0-9]; arena: [1-9][0-9]* bytes$'
expect 'hello without a model' 1 "$bin/hello"
shows 'hello without a model' err '^usage: '
expect 'hello with a file that is not there' 1 "$bin/hello" "$folder/none.onnx"
shows 'hello with a file that is not there' err 'none\.onnx|open|read'
expect 'hello with a file that is no model' 1 "$bin/hello" $digits/sheet.png
shows 'hello with a file that is no model' err '.'

expect 'device' 0 "$bin/device" $digits/digits.onnx
shows 'device' out '^largest difference: 0; steps: [1-9][0-9]* on reference, [1-9][0-9]* on example$'
expect 'device without a model' 1 "$bin/device"
shows 'device without a model' err '^usage: '
expect 'device with a file that is no model' 1 "$bin/device" $digits/sheet.png
shows 'device with a file that is no model' err '.'

# x + sin(2 x)^2 / 2, by the mathematics
expect 'custom' 0 "$bin/custom" "$folder/snake.nnrt"
shows 'custom' out '^snake\(-1\) = -0\.5866$'
shows 'custom' out '^snake\(0\.5\) = 0\.8540$'
shows 'custom' out '^snake\(1\) = 1\.4134$'
expect 'custom without a file' 1 "$bin/custom"
shows 'custom without a file' err '^usage: '
expect 'custom without a place for its file' 1 "$bin/custom" "$folder/none/snake.nnrt"
shows 'custom without a place for its file' err 'none/snake\.nnrt'

expect 'digits' 0 "$bin/digits" $digits/digits.onnx $digits/sheet.png
shows 'digits' out '^accuracy (9[89]\.[0-9]|100\.0) %, [0-9]+ of 100 digits$'
shows 'digits' out '^time [0-9]+\.[0-9]+ ms per image$'
shows 'digits' out '^memory [1-9][0-9]* bytes: arena [1-9][0-9]*, '
[ "$(grep -oE '[0-9]+(\.[0-9])? ?%' "$folder/out" | wc -l)" -ge 101 ]
verdict 'digits: an answer and its confidence for each of 100 digits' $?
# make run compiles the kernels of the fast device as an object of their own, and only the other code that the program needs.
sed -E 's/ *[0-9.]+ %//g; /^(time|memory|accuracy)/d' "$folder/out" >"$folder/answers"
expect 'digits of make run' 0 build/digits $digits/digits.onnx $digits/sheet.png
shows 'digits of make run' out '^accuracy 100\.0 %, 100 of 100 digits$'
sed -E 's/ *[0-9.]+ %//g; /^(time|memory|accuracy)/d' "$folder/out" | cmp -s - "$folder/answers"
verdict 'digits of make run: the same answers' $?
shows 'digits of make run: on the fast device, which packs the weights' out '^memory .* weights, used in place in the model: 0 bytes$'
nm --defined-only --extern-only build/run/kernels.o >"$folder/out" 2>"$folder/err"
[ "$(awk '{ print $3 }' "$folder/out" | sort | tr '\n' ' ')" = 'nnrti_cpu_has_isa nnrti_cpu_isas ' ]
verdict 'digits of make run: what the object of the kernels shows' $?
make -n -B build/digits >"$folder/out" 2>"$folder/err"
shows 'make run announces what takes long' out "^echo 'compiling .*kernels.*: about [0-9]+ s'"
shows 'make run announces what takes long' out "^echo 'compiling examples/digits/digits\.c .*: about [0-9]+ s'"
grep ' -c ' "$folder/out" | sed 's/.* //' | sort | tr '\n' ' ' >"$folder/err"
[ "$(cat "$folder/err")" = 'examples/digits/digits.c tools/kernels.c ' ]
verdict 'make run compiles two objects' $?
make -n -B build/nnrt CPPFLAGS=-nostdinc >"$folder/out" 2>"$folder/err"
grep -q 'tools/nnrt.c' "$folder/out" && ! grep -q jpeg "$folder/out"
verdict 'make without libjpeg: the command line is compiled without it' $?
cc -MM -I. examples/digits/digits.c tools/kernels.c >"$folder/out" 2>"$folder/err" &&
    ! grep -qE 'compat/|nnrt_fake|nnrt_remote' "$folder/out"
verdict 'make run compiles no other device and no other API' $?
expect 'digits in integers' 0 "$bin/digits" $digits/digits_int8.onnx $digits/sheet.png
shows 'digits in integers' out '^accuracy (9[89]\.[0-9]|100\.0) %, [0-9]+ of 100 digits$'
expect 'digits with a picture of one digit' 0 "$bin/digits" $digits/digits.onnx $digits/digit_7.png
shows 'digits with a picture of one digit' out '^7 +[0-9]+\.[0-9] %'
! grep -qE 'NOT|accuracy' "$folder/out"
verdict 'digits with a picture of one digit: nobody said what it is' $?
expect 'digits --ascii' 0 "$bin/digits" --ascii
! LC_ALL=C grep -q '[^ -~]' "$folder/out"
verdict 'digits --ascii: prints ASCII only' $?
expect 'digits --help' 0 "$bin/digits" --help
expect 'digits --nonsense' 2 "$bin/digits" --nonsense
shows 'digits --nonsense' err '^usage: '
expect 'digits with too many names' 2 "$bin/digits" a b c
expect 'digits with a sheet that is not there' 1 "$bin/digits" $digits/digits.onnx "$folder/none.png"
printf 'P5 8 8 255\n' >"$folder/small.png"
expect 'digits with a sheet that is no PNG' 1 "$bin/digits" $digits/digits.onnx "$folder/small.png"
head -c 200 $digits/sheet.png >"$folder/short.png"
expect 'digits with a damaged sheet' 1 "$bin/digits" $digits/digits.onnx "$folder/short.png"
expect 'digits with no model' 1 "$bin/digits" $digits/sheet.png $digits/sheet.png

# The ten single digits and a wrong label in the format of heldback.py; the PNG files are read with zlib alone.
"${PYTHON:-/usr/bin/python3}" - "$digits" "$folder/ten.bin" <<'END' || failed=$((failed + 1))
import re, struct, sys, zlib
images = b""
for digit in range(10):
    data = open("%s/digit_%d.png" % (sys.argv[1], digit), "rb").read()
    at = data.index(b"IDAT")
    rows = zlib.decompress(data[at + 4:at + 4 + struct.unpack(">I", data[at - 4:at])[0]])
    assert len(rows) == 28 * 29 and not any(rows[::29])
    images += b"".join(rows[29 * y + 1:29 * y + 29] for y in range(28))
labels = bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 0])
open(sys.argv[2], "wb").write(b"NNDG" + struct.pack("<III", 10, 28, 28) + images + labels)
END
expect 'digits --heldback' 0 "$bin/digits" --heldback "$folder/ten.bin" $digits/digits.onnx
shows 'digits --heldback' out '^accuracy 90\.00 %, 9 of 10 digits$'
shows 'digits --heldback' out '^9 +[0-9]+% NOT 0!'
expect 'digits --heldback in integers' 0 "$bin/digits" --heldback "$folder/ten.bin" $digits/digits_int8.onnx
shows 'digits --heldback in integers' out '^accuracy 90\.00 %, 9 of 10 digits$'
head -c 3000 "$folder/ten.bin" >"$folder/short.bin"
expect 'digits --heldback with a short file' 1 "$bin/digits" --heldback "$folder/short.bin"
expect 'digits --heldback with another file' 1 "$bin/digits" --heldback $digits/sheet.png
expect 'digits --heldback without a file' 1 "$bin/digits" --heldback "$folder/none.bin"
expect 'digits --heldback and a sheet' 2 "$bin/digits" --heldback "$folder/ten.bin" a b

# Files that claim a larger size than they have: the memory that the program allocates is in proportion to the file size.
"${PYTHON:-/usr/bin/python3}" - "$bin/digits" $digits "$folder" <<'END' >"$folder/out" 2>"$folder/err"
import os, struct, subprocess, sys, zlib
program, digits, folder = sys.argv[1:]


def png(path, width, height, bits, count):
    """An image of count zeros, written by another process: the peak of a program that Python starts begins with Python's own."""
    def chunk(tag, body):
        return struct.pack(">I", len(body)) + tag + body + struct.pack(">I", zlib.crc32(tag + body))
    if os.fork() == 0:
        with open(path, "wb") as f:
            f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, 0, 0, 0, 0)) +
                    chunk(b"IDAT", zlib.compress(bytes(count))) + chunk(b"IEND", b""))
        os._exit(0)
    assert os.wait()[1] == 0
    return [digits + "/digits.onnx", path]


def took(arguments):
    run = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = run.stdout.read().decode()
    status, usage = os.wait4(run.pid, 0)[1:]
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1, usage.ru_maxrss * 1024, text


plain = took([digits + "/digits.onnx", digits + "/digit_7.png"])
assert plain[0] == 0, plain
held = folder + "/held.bin"
with open(held, "wb") as f:
    f.write(b"NNDG" + struct.pack("<III", 1000000, 28, 28) + bytes(4000))
for arguments in (png(folder + "/vast.png", 20000, 20000, 1, 20000 * 2501), png(folder + "/long.png", 28000, 280, 8, 28001 * 280),
                  png(folder + "/deep.png", 28, 28, 8, 100 << 20), ["--heldback", held, digits + "/digits.onnx"]):
    status, most, text = took(arguments)
    print(arguments, status, most - plain[1], text)
    name = arguments[1]
    assert status == 1 and name in text and most <= plain[1] + 64 * os.path.getsize(name) + (4 << 20), (status, most, plain[1], text)
END
verdict 'digits: files that say that they are larger than they are' $?

# Valid and invalid WAV files: sound NAME.wav, its header and its data.
"${PYTHON:-/usr/bin/python3}" - "$folder" <<'END' || failed=$((failed + 1))
import struct, sys
folder = sys.argv[1]


def chunk(tag, body, size=None):
    return tag + struct.pack("<I", len(body) if size is None else size) + body + b"\0" * (len(body) % 2)


def form(channels=1, rate=16000, bits=16, kind=1, block=None, tail=b""):
    block = channels * bits // 8 if block is None else block
    return chunk(b"fmt ", struct.pack("<HHIIHH", kind, channels, rate, rate * block & 0xFFFFFFFF, block, bits) + tail)


def sound(name, *parts, head=b"RIFF"):
    body = b"WAVE" + b"".join(parts)
    with open("%s/%s.wav" % (folder, name), "wb") as f:
        f.write(head + struct.pack("<I", len(body)) + body)


quiet = struct.pack("<1600h", *[(i * 37 % 7) - 3 for i in range(1600)])
data = chunk(b"data", quiet)
pcm = bytes.fromhex("0100000000001000800000aa00389b71")
sound("plain", form(), data)
sound("stereo8", form(2, 8000), data)
sound("extensible", form(kind=0xFFFE, tail=struct.pack("<HHI", 22, 16, 4) + pcm), data)
sound("chunks", chunk(b"LIST", b"odd"), form(tail=b"\0\0"), chunk(b"fact", b"1234"), data, chunk(b"LIST", b"x"))
sound("endless", form(), chunk(b"data", quiet, 0xFFFFFFFF))
sound("cut", form(), chunk(b"data", quiet, 9999))
sound("one", form(), chunk(b"data", b"\1\0"))
sound("float", form(bits=32, kind=3), data)
sound("bits8", form(bits=8), data)
sound("bits24", form(bits=24), data)
sound("extensible_float", form(bits=16, kind=0xFFFE, tail=struct.pack("<HHI", 22, 16, 4) + b"\3" + pcm[1:]), data)
sound("rate44", form(rate=44100), data)
sound("rate0", form(rate=0), data)
sound("six", form(6), data)
sound("none", form(0), data)
sound("apart", form(block=4), data)
sound("big", form(), data, head=b"RIFX")
sound("no_format", data, form())
sound("short_format", chunk(b"fmt ", b"\1\0\1\0"), data)
sound("no_data", form())
sound("empty", form(), chunk(b"data", b""))
sound("half", form(), chunk(b"data", b"\1"))
sound("beyond", form(), chunk(b"LIST", b"abcd", 0xFFFFFFFE), data)
whole = open(folder + "/plain.wav", "rb").read()
for n in (0, 3, 11, 12, 19, 20, 35, 43, 44):
    open("%s/first%d.wav" % (folder, n), "wb").write(whole[:n])
END
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
    # shellcheck disable=SC2086  # words are meant to be split
    expect "vad $arguments" 2 "$bin/vad" $arguments
    shows "vad $arguments" err '^usage: '
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

# ---- kws ----

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
# Stereo, in which both channels are equal: the same words, times and scores. The first second has the first word. Silence has none.
"${PYTHON:-/usr/bin/python3}" - $kws/words.wav "$folder" <<'END' || failed=$((failed + 1))
import array, sys, wave
with wave.open(sys.argv[1], "rb") as f:
    x = array.array("h", f.readframes(f.getnframes()))
    assert f.getparams()[:3] == (1, 2, 16000)
for name, channels, samples in (("both", 2, [v for v in x for _ in range(2)]), ("first", 1, x[:16000]), ("nothing", 1, [0] * 48000)):
    with wave.open("%s/%s.wav" % (sys.argv[2], name), "wb") as f:
        f.setparams((channels, 2, 16000, 0, "NONE", ""))
        f.writeframes(array.array("h", samples).tobytes())
END
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
    # shellcheck disable=SC2086  # words are meant to be split
    expect "kws $arguments" 2 "$bin/kws" $arguments
    shows "kws $arguments" err '^usage: '
done
# firmware.c, with the network planned for microcontrollers; make kws-firmware runs it in qemu
expect 'kws as firmware' 0 "${PYTHON:-/usr/bin/python3}" -B $kws/qemu.py --nnrt "$bin/nnrt" --kws "$bin/kws" --out "$folder/firmware" --host
shows 'kws as firmware' out '^the same 2 words, times and scores as on this machine: yes stop$'

# ---- face ----

PYTHON=${PYTHON:-/usr/bin/python3}
"$PYTHON" -B tests/tools/face_case.py "$folder" >"$folder/out" 2>"$folder/err"
verdict 'face: models and pictures of face_case.py' $?
# Positions by hand: in wide.png (input - margin) * 2, margin 0, 32; tall.png margin 32, 0; small.png (input - margin) / 4.
# The first face is the mean of two boxes, whose left sides are 88 and 96, with the weights sigmoid(2) and sigmoid(1).
expect 'face' 0 "$bin/face" "$folder/detector.tflite" "$folder/wide.png" -o "$folder/faces.png"
[ "$(grep -c '^face ' "$folder/out")" -eq 3 ]
verdict 'face: three faces' $?
shows 'face: two boxes of one face' out '^face 0\.881  box 91\.6 4\.0 171\.6 44\.0  .*  nose 122\.0 28\.0  mouth 120\.0 24\.0  '
shows 'face: a box that overlaps by less than 0.3' out '^face 0\.818  box 132\.0 4\.0 212\.0 44\.0 '
shows 'face: an anchor of the coarse layers; pixel and margin' out \
    '^face 0\.622  box 188\.0 60\.0 228\.0 100\.0  right eye 274\.0 -142\.0  left eye 55\.0 -175\.0  nose 210\.0 84\.0  '
shows 'face: the last line' out '^3 faces in [0-9.]+ ms; arena: [1-9][0-9]* bytes$'
"$PYTHON" -B tests/tools/face_case.py --drawn "$folder/wide.png" "$folder/faces.png" >"$folder/out" 2>"$folder/err"
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
for file in "$folder/small.wav.png" "$folder/short.png" "$folder/vast.png" "$folder/deep.png" "$folder"; do
    [ -e "$file" ] || cp $digits/digits.onnx "$file"
    expect "face with the picture ${file##*/}" 1 "$bin/face" "$folder/detector.tflite" "$file"
    shows "face with the picture ${file##*/}" err "${file##*/}: cannot be read as a PNG file .*convert photo\\.jpg"
done
expect 'face without a place for its picture' 1 "$bin/face" "$folder/detector.tflite" "$folder/wide.png" -o "$folder/none/faces.png"
shows 'face without a place for its picture' err 'none/faces\.png: cannot be written'
expect 'face --help' 0 "$bin/face" --help
shows 'face --help' out '^usage: face MODEL PICTURE\.png \[-o OUT\.png\]$'
for arguments in '' 'a' 'a b c' 'a b -o' 'a b -o c -o d' '--nonsense' '-o a b'; do
    # shellcheck disable=SC2086  # words are meant to be split
    expect "face $arguments" 2 "$bin/face" $arguments
    shows "face $arguments" err '^usage: '
done

# The network itself, if make face has fetched it: each keypoint within 10 pixels of its place in the drawing, in which a head
# is 140 pixels high.
if [ -f build/face-data/face_detection_short_range.tflite ]; then
    expect 'face: the drawn faces' 0 "$bin/face" build/face-data/face_detection_short_range.tflite examples/face/picture.png
    "$PYTHON" -B examples/face/picture.py --keypoints >"$folder/drawn"
    grep '^face ' "$folder/out" | sort -n -k 4 | awk -v file="$folder/drawn" '
        function near(x, y, a, b) { return (x - a) ^ 2 + (y - b) ^ 2 <= 100 }
        { if ((getline line < file) < 1 || split(line, at, " ") != 8) bad = 1
          if (!near($10, $11, at[1], at[2]) || !near($14, $15, at[3], at[4]) || !near($17, $18, at[5], at[6]) ||
              !near($20, $21, at[7], at[8])) bad = 1 }
        END { exit bad || NR != 3 || (getline line < file) > 0 }'
    verdict 'face: the drawn faces, eyes, nose and mouth' $?
else
    skipped=$((skipped + 1))
fi

# ---- make bench ----

# bench NAME STATUS ARGUMENT... : no other library, nothing is fetched; how long anything takes does not matter
bench() {
    title=$1 wanted=$2
    shift 2
    expect "bench $title" "$wanted" "$PYTHON" -B tests/bench/bench.py --driver "$bin/bench" --out "$folder/bench" --peers no "$@"
}

bench 'of a network and a layer' 0 --nets lenet --layers matmul_64 --seconds 0.05 --devices 'cpu reference'
shows 'bench: the network with one thread, and how far it is from the reference device' out '^lenet +1 +[0-9.]+ .* [0-9]\.[0-9]e-0[6-9] '
shows 'bench: the layer with one thread' out '^matmul_64 +1 +[0-9.]+ '
shows 'bench: peaks' out '^memory, read, GB/s +[0-9]+ +[0-9]+$'
shows 'bench: who is absent' out '^absent: ONNX Runtime: not asked for$'
shows 'bench: who is absent' out '^absent: onednn: not asked for$'
shows 'bench: what was not measured' out '^ResNet-18 by ONNX Runtime at most 0\.65 +not measured +-$'
shows 'bench: no difference to who is absent' out '^Largest relative difference to ONNX Runtime, .* +not measured +-$'
shows 'bench: what was measured' out '^LeNet, ms to load, prepare and run once: at most 0\.100 +(not )?met +lenet\.onnx [0-9.]+, lenet\.nnrt [0-9.]+, lenet\.packed\.nnrt [0-9.]+$'
rounds=$(grep -c '^time.matmul_64.1.nnrt reference' "$folder/bench/results.tsv")
[ "$rounds" -eq 7 ] || [ "$rounds" -eq 3 ]
verdict 'bench: seven rounds, three of who takes long' $?
"$PYTHON" - "$folder/bench/report.html" <<'END'
import html.parser, sys
class Page(html.parser.HTMLParser):
    open, seen, bad = [], [], []
    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.bad += [v for k, v in attributes if k in ("src", "href") or "//" in (v or "")]
        if tag != "meta":
            self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)
    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad.append(tag)
page, text = Page(), open(sys.argv[1], encoding="utf-8").read()
page.feed(text)
sys.exit(bool(page.bad or page.open or "url(" in text or "prefers-color-scheme: dark" not in text
              or not {"svg", "rect", "circle", "table"} <= set(page.seen)))
END
verdict 'bench: a page that is whole, and needs nothing else' $?

# Tables of given figures, worked by hand. Times in milliseconds: 2, 2.4 and 2.8 by 4; 10^6 multiply-adds.
{
    printf 'model\tresnet18\tfloat\t1000000\t1000\nflops\t1\tAVX-512\t2e9\nmachine\tprocessor\t<b>&\n'
    for round in '0 2e-3' '1 2.4e-3' '2 2.8e-3'; do
        printf 'time\tresnet18\t1\t%s\t%s\t%s\t%s\t5\n' 'nnrt cpu' "${round% *}" "${round#* }" "${round#* }" \
            'ONNX Runtime' "${round% *}" 4e-3 4e-3
    done
    printf 'error\tresnet18\t1\tnnrt cpu\t2e-5\n'
} >"$folder/figures.tsv"
bench '--from' 0 --from "$folder/figures.tsv"
# the least is 2 ms, half of the peak; XNNPACK takes 14.93 where ONNX Runtime takes 15.45
shows 'bench --from: ratio, quartiles, the best other' out '^resnet18 +1 +2\.4000 +4\.0000 +0\.60 \(0\.55-0\.65\) +0\.62 +1\.0 +50\.0 +2\.0e-05 +- +-$'
shows 'bench --from: a target' out '^ResNet-18 by ONNX Runtime at most 0\.65 +met +resnet18 1T 0\.60$'
shows 'bench --from: all of them' out '^Each of the ten by the quickest other at most 1\.00 +not measured +resnet18 1T 0\.62$'
shows 'bench --from: nine other networks are missing' out '^Largest relative difference to ONNX Runtime, .* +not measured +resnet18 1T 2\.0e-05$'
grep -q '&lt;b&gt;&amp;' "$folder/bench/report.html" && ! grep -q '<b>' "$folder/bench/report.html"
verdict 'bench --from: what is in a file is text' $?
printf 'time\tresnet18\t1\n' >"$folder/short.tsv"
bench '--from a file that is short' 2 --from "$folder/short.tsv"
shows 'bench --from a file that is short' err '^bench: .*short\.tsv: line 1 is not one of the benchmark$'
bench '--from no file' 2 --from "$folder/none.tsv"
bench 'of no network' 2 --nets nothing
shows 'bench of no network' err "^bench: --nets: no 'nothing' among .*lenet"
bench '--seconds x' 2 --seconds x
bench '--threads 0' 2 --threads '1 0'
bench '--nonsense' 2 --nonsense
bench '--help' 0 --help
expect 'bench of no plan' 2 "$bin/bench"
expect 'bench of a plan that is not there' 1 "$bin/bench" --seconds 0.01 "$folder/none"
printf 'lenet\tfloat\n' >"$folder/plan"
expect 'bench of a plan that is none' 1 "$bin/bench" --seconds 0.01 "$folder/plan"
shows 'bench of a plan that is none' err 'plan:1: not a line of a plan$'

if [ $skipped -gt 0 ]; then
    echo 'skipped  because of'
    echo '      1  the network of examples/face: make face fetches it into build/face-data'
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
