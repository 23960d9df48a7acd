#!/bin/sh
# test_cli_files.sh: files that commands write: links, pipes, devices, full disks, several at once. Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models large labels external

# kept NAME FILE COMMAND...: refused, and FILE has the bytes it had
kept() {
    label=$1
    kept=$2
    shift 2
    cp "$kept" "$folder/before"
    refused 1 "$label" 'cannot write .*it is read by this command' "$@"
    same "$label: the file is another one" "$kept" "$folder/before"
}
cp $digits/digits.onnx "$folder/m.onnx"
mkfifo "$folder/pipe"
t 0 'convert' convert $digits/digits.onnx "$folder/d.nnrt"
ln "$folder/m.onnx" "$folder/hard.onnx"
ln -s m.onnx "$folder/soft.onnx"
kept 'convert onto itself' "$folder/m.onnx" convert "$folder/m.onnx" "$folder/m.onnx"
kept 'convert onto itself by a hard link' "$folder/m.onnx" convert "$folder/m.onnx" "$folder/hard.onnx"
kept 'convert onto itself by a link' "$folder/m.onnx" convert "$folder/m.onnx" "$folder/soft.onnx"
kept 'convert onto its labels' "$folder/three.txt" convert "$folder/scores.onnx" "$folder/three.txt" --labels "$folder/three.txt"
kept 'convert onto its constants' "$folder/x/d/w.bin" convert "$folder/x/d/ok.onnx" "$folder/x/d/w.bin"
kept 'emit-c onto itself' "$folder/m.onnx" emit-c "$folder/m.onnx" -o "$folder/m.onnx" --name m
kept 'emit-c of a .nnrt file onto itself' "$folder/d.nnrt" emit-c "$folder/d.nnrt" -o "$folder/d.nnrt" --name m
mkdir "$folder/own"
cp "$folder/four.npy" "$folder/own/y.npy"
kept 'run onto its input' "$folder/own/y.npy" run "$folder/sqrt.onnx" --input "$folder/own/y.npy" --output-dir "$folder/own"
ln -s /dev/null "$folder/null"
# a device of our own, so that a fault does not take away the system's
if mknod "$folder/device" c 1 3 2>"$folder/err"; then :; else
    skip 'convert onto a device' 'only root may make one'
    ln -s /dev/null "$folder/device"
fi
for to in "$folder/pipe" "$folder/device" "$folder/null"; do
    refused 1 "convert onto $to" 'cannot write .*it is no regular file and is not replaced' convert $digits/digits.onnx "$to"
done
[ -p "$folder/pipe" ] && [ -c "$folder/device" ] && [ -L "$folder/null" ]
verdict 'a pipe or a device was replaced' $?
# a link stays a link, and its target is replaced: also if the target is standard output
echo old >"$folder/named"
ln -s named "$folder/named.link"
ln -s named.link "$folder/named.both"
t 0 'convert onto a link to a link' convert "$folder/m.onnx" "$folder/named.both"
t 0 'convert onto a link to a link: what it names' info "$folder/named" --json
t 0 'emit-c onto a link' emit-c "$folder/m.onnx" -o "$folder/named.link" --name m
grep -q m_plan "$folder/named" && [ -L "$folder/named.link" ] && [ -L "$folder/named.both" ]
verdict 'a link was replaced' $?
if [ -L /dev/stdout ] && [ ! -w /dev ]; then # else a fault would take away the system's
    t 0 'emit-c onto /dev/stdout, a file' emit-c "$folder/m.onnx" -o /dev/stdout --name m
    prints 'emit-c onto /dev/stdout, a file' '^NNRT_API const nnrt_plan \*m_plan\(void\);$'
fi
ln -s nothing "$folder/dangling"
ln -s circle "$folder/circle"
for link in dangling circle; do
    refused 1 "convert onto a link that is $link" 'cannot write .*: it is a link to a file that does not exist: ' convert "$folder/m.onnx" "$folder/$link"
    refused 1 "emit-c onto a link that is $link" 'cannot write .*: it is a link to a file that does not exist: ' emit-c "$folder/m.onnx" -o "$folder/$link" --name m
    [ -L "$folder/$link" ]
    verdict "a link that is $link was replaced" $?
done
refused 1 'convert to standard output' 'cannot write -: a .nnrt file cannot be written to standard output' convert "$folder/m.onnx" -
t 0 'emit-c to standard output' emit-c $digits/digits.onnx -o - --name digits
prints 'emit-c to standard output' '^NNRT_API const nnrt_plan \*digits_plan\(void\);$'
cp "$folder/out" "$folder/straight.h"
timeout 20 cat "$folder/pipe" >"$folder/through.h" &
t 0 'emit-c to a pipe' emit-c $digits/digits.onnx -o "$folder/pipe" --name digits
wait $!
same 'emit-c to a pipe: another text' "$folder/straight.h" "$folder/through.h"
# a disk that is full: the old file stays, nothing else does
t 0 'outputs' run "$folder/table.onnx" --input random --output-dir "$folder/full"
cp "$folder/full/y.npy" "$folder/before"
sh -c "trap '' 25; ulimit -f 4; exec '$nnrt' run '$folder/table.onnx' --input random:1 --output-dir '$folder/full'" >"$folder/out" 2>"$folder/err"
[ $? -eq 1 ]
verdict 'a full disk: not status 1' $?
says 'a full disk' 'cannot write all of .*y.npy: File too large$'
cmp -s "$folder/full/y.npy" "$folder/before" && [ "$(ls "$folder/full")" = y.npy ]
verdict 'a full disk: the old file is gone, or another one is there' $?
sh -c "trap '' 25; ulimit -f 4; exec '$nnrt' convert '$folder/table.onnx' '$folder/full.nnrt'" >"$folder/out" 2>"$folder/err"
says 'convert to a full disk' 'cannot write .*full.nnrt: File too large$'
if [ -c /dev/full ]; then
    refused 1 'emit-c to a full disk' 'cannot write all of /dev/full: No space left on device$' emit-c $digits/digits.onnx -o /dev/full --name m
else
    skip 'emit-c to a full disk' 'there is no /dev/full'
fi
cp "$folder/straight.h" "$folder/full/m.h"
sh -c "trap '' 25; ulimit -f 4; exec '$nnrt' emit-c $digits/digits.onnx -o '$folder/full/m.h' --name other" >"$folder/out" 2>"$folder/err"
same 'emit-c to a full disk: the old file is gone' "$folder/full/m.h" "$folder/straight.h"
# existing files of others next to it are unchanged, and nothing else remains
echo mine >"$folder/full/m.h.0.tmp"
echo mine >"$folder/full/y.npy.0.tmp"
t 0 'emit-c beside a file in its way' emit-c $digits/digits.onnx -o "$folder/full/m.h" --name other
t 0 'outputs beside a file in their way' run "$folder/table.onnx" --input random:1 --output-dir "$folder/full"
[ "$(cat "$folder/full"/*.tmp)" = 'mine
mine' ] && [ "$(ls "$folder/full" | wc -l)" -eq 4 ] && ! cmp -s "$folder/full/m.h" "$folder/straight.h"
verdict 'files in the way: not left alone' $?
# two at once
for i in 1 2 3 4; do
    "$nnrt" convert "$folder/table.onnx" "$folder/both.nnrt" >/dev/null 2>"$folder/err" &
    "$nnrt" convert $digits/digits.onnx "$folder/both.nnrt" >/dev/null 2>>"$folder/err"
    wait $!
done
t 0 'two at once' info "$folder/both.nnrt" --json
[ ! -s "$folder/err" ] && [ "$(echo "$folder"/both*)" = "$folder/both.nnrt" ]
verdict 'two at once: a fault, or a file is left' $?

total
