#!/bin/sh
# test_example_digits.sh FOLDER: the digits, and make run.
set -u
. tests/tools/examples.sh

expect 'digits' 0 "$bin/digits" $digits/digits.onnx $digits/sheet.png
shows 'digits' out '^accuracy (9[89]\.[0-9]|100\.0) %, [0-9]+ of 100 digits$'
shows 'digits' out '^time [0-9]+\.[0-9]+ ms per image$'
shows 'digits' out '^memory [1-9][0-9]* bytes: arena [1-9][0-9]*, '
[ "$(grep -oE '[0-9]+(\.[0-9])? ?%' "$folder/out" | wc -l)" -ge 101 ]
verdict 'digits: an answer and its confidence for each of 100 digits' $?
# make run compiles the kernels of the fast device as an object of their own, and only the other code that the program
# needs.
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
"$python" - "$digits" "$folder/ten.bin" <<'END'
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
verdict 'digits --heldback: a file' $?
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

# Files that claim a larger size than they have: the memory that the program allocates is in proportion to the file
# size.
"$python" - "$bin/digits" $digits "$folder" <<'END' >"$folder/out" 2>"$folder/err"
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
                  png(folder + "/deep.png", 28, 28, 8, 32 << 20), ["--heldback", held, digits + "/digits.onnx"]):
    status, most, text = took(arguments)
    print(arguments, status, most - plain[1], text)
    name = arguments[1]
    assert status == 1 and name in text and most <= plain[1] + 64 * os.path.getsize(name) + (4 << 20), (status, most, plain[1], text)
END
verdict 'digits: files that say that they are larger than they are' $?

total
