#!/bin/sh
# test_examples.sh FOLDER: the examples, built into FOLDER with sanitizers, do what their README says, and refuse what
# they should with the right status and a message. Runs from the root of the repository.
set -u
bin=$1
digits=examples/digits
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

# verdict WHAT CONDITION-STATUS
verdict() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1"
        head -n 8 "$folder/out" "$folder/err"
    fi
}

# expect WHAT STATUS COMMAND... : the command ends with STATUS and leaves no sanitizer report
expect() {
    what=$1 status=$2
    shift 2
    "$@" >"$folder/out" 2>"$folder/err" </dev/null
    got=$?
    [ $got -eq "$status" ] && ! grep -qE 'Sanitizer|runtime error' "$folder/err"
    verdict "$what: status $got, expected $status" $?
}

# shows WHAT FILE PATTERN
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

expect 'digits' 0 "$bin/digits" $digits/digits.onnx $digits/sheet.png
shows 'digits' out '^accuracy (9[89]\.[0-9]|100\.0) %, [0-9]+ of 100 digits$'
shows 'digits' out '^time [0-9]+\.[0-9]+ ms for an image$'
shows 'digits' out '^memory [1-9][0-9]* bytes: arena [1-9][0-9]*, '
[ "$(grep -oE '[0-9]+(\.[0-9])? ?%' "$folder/out" | wc -l)" -ge 101 ]
verdict 'digits: an answer and its confidence for each of 100 digits' $?
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
head -c 3000 "$folder/ten.bin" >"$folder/short.bin"
expect 'digits --heldback with a short file' 1 "$bin/digits" --heldback "$folder/short.bin"
expect 'digits --heldback with another file' 1 "$bin/digits" --heldback $digits/sheet.png
expect 'digits --heldback without a file' 1 "$bin/digits" --heldback "$folder/none.bin"
expect 'digits --heldback and a sheet' 2 "$bin/digits" --heldback "$folder/ten.bin" a b

# Files that say that they are larger than they are: what they make the program take is in proportion to them.
"${PYTHON:-/usr/bin/python3}" - "$bin/digits" $digits "$folder" <<'END' >"$folder/out" 2>"$folder/err"
import os, struct, subprocess, sys, zlib
program, digits, folder = sys.argv[1:]


def png(path, width, height, bits, data):
    def chunk(tag, body):
        return struct.pack(">I", len(body)) + tag + body + struct.pack(">I", zlib.crc32(tag + body))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, 0, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))
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
for arguments in (png(folder + "/vast.png", 20000, 20000, 1, bytes(20000 * 2501)), png(folder + "/long.png", 28000, 280, 8, bytes(28001 * 280)),
                  png(folder + "/deep.png", 28, 28, 8, bytes(100 << 20)), ["--heldback", held, digits + "/digits.onnx"]):
    status, most, text = took(arguments)
    print(arguments, status, most - plain[1], text)
    name = arguments[1]
    assert status == 1 and name in text and most <= plain[1] + 64 * os.path.getsize(name) + (4 << 20), (status, most, plain[1], text)
END
verdict 'digits: files that say that they are larger than they are' $?

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
