#!/bin/sh
# test_cli_convert.sh: nnrt convert: .nnrt files, labels. Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models large labels sets

# ---- .nnrt files ----

t 0 'convert' convert $digits/digits.onnx "$folder/digits.nnrt" --meta 'names=zero one' --meta mean=3 --set 'eq=a=b'
prints 'convert' '^.*/digits\.nnrt  [0-9]+ bytes$'
silent 'convert'
t 0 'convert without optimizing' convert $digits/digits.onnx "$folder/plain.bin" --no-optimize --json
py 'convert --json' 'd["bytes"] == os.path.getsize(F + "plain.bin") and d["file"] == F + "plain.bin" and set(d) == {"model", "file", "bytes"}'
t 0 'run of ONNX' run $digits/digits.onnx --input $digits/digit_7.png --output-dir "$folder/onnx_out"
t 0 'run of .nnrt' run "$folder/digits.nnrt" --input $digits/digit_7.png --output-dir "$folder/nnrt_out"
same 'run of .nnrt: other bits than ONNX' "$folder/onnx_out/probabilities.npy" "$folder/nnrt_out/probabilities.npy"
t 0 'run without optimizing' run "$folder/plain.bin" --input $digits/digit_7.png --output-dir "$folder/plain_out"
py 'run without optimizing: folding rounds otherwise' 'np.allclose(load("plain_out/probabilities.npy"), load("onnx_out/probabilities.npy"), rtol=1e-4, atol=1e-6)'
t 0 'convert optimizes' convert "$folder/plain.bin" "$folder/late.nnrt"
t 0 'run of .nnrt optimized later' run "$folder/late.nnrt" --input $digits/digit_7.png --output-dir "$folder/late_out"
same 'optimized later: other bits than ONNX' "$folder/onnx_out/probabilities.npy" "$folder/late_out/probabilities.npy"
t 0 'info of .nnrt' info "$folder/digits.nnrt"
prints 'info of .nnrt: sections' '^            weights +77120 bytes at [0-9]+$'
prints 'info of .nnrt: metadata' '^metadata    names=zero one$'
prints 'info of .nnrt: input' '^input       image  float32\[1,1,28,28\]  NCHW$'
t 0 'info of .nnrt --json' info "$folder/digits.nnrt" --json
py 'info of .nnrt --json' 'd["metadata"] == {"names": "zero one", "mean": "3", "eq": "a=b"} and [s["kind"] for s in d["sections"]][0] == "strings" and d["sections"][-1]["bytes"] == 77120 and all(s["offset"] % 64 == 0 for s in d["sections"])'
t 0 'convert .nnrt' convert "$folder/digits.nnrt" -o "$folder/again.nnrt" --meta mean= --meta names=x
t 0 'info of converted .nnrt' info "$folder/again.nnrt" --json
py 'metadata go along' 'd["metadata"] == {"names": "x", "eq": "a=b"}'
t 0 'convert without metadata' convert "$folder/again.nnrt" "$folder/none.nnrt" --meta names= --meta eq=
t 0 'bench of .nnrt' bench "$folder/again.nnrt" --reps 2
t 0 'dot of .nnrt' dot "$folder/again.nnrt"
t 0 'convert with open extents' convert "$folder/open.onnx" "$folder/open.nnrt"
t 0 'info with open extents of .nnrt' info "$folder/open.nnrt" --shape 5,3 --json
py 'info with open extents of .nnrt' 'd["inputs"][0]["shape"] == [None, 3] and d["outputs"][0]["shape"] == [3, 5]'
t 0 'run with open extents of .nnrt' run "$folder/open.nnrt" --input "$folder/rows.npy" --output-dir "$folder/open_nnrt"
t 0 'run with open extents' run "$folder/open.onnx" --input "$folder/rows.npy" --output-dir "$folder/open_onnx"
same 'open extents: other bits than ONNX' "$folder/open_onnx/y.npy" "$folder/open_nnrt/y.npy"
t 0 'run --max of .nnrt' run "$folder/open.nnrt" --max 8,3 --input "$folder/rows.npy" --output-dir "$folder/open_max"
same '--max: other bits' "$folder/open_onnx/y.npy" "$folder/open_max/y.npy"
t 0 'info --max of .nnrt' info "$folder/open.nnrt" --max x=8,3
prints 'info --max of .nnrt' 'up to float32\[8,3\]$'
t 0 'check of .nnrt' check "$folder/open.nnrt" --data "$folder/good"
t 0 'convert with --shape' convert "$folder/open.onnx" "$folder/closed.nnrt" --shape 5,3
t 0 'info of a closed model' info "$folder/closed.nnrt" --json
py 'convert with --shape' 'd["inputs"][0]["shape"] == [5, 3]'
head -c 5000 "$folder/digits.nnrt" >"$folder/cut.nnrt"
refused 1 'a .nnrt file cut short' 'cannot load .*cut short' run "$folder/cut.nnrt" --input random
refused 2 'convert to nowhere' 'the output file is missing' convert "$folder/open.onnx"
refused 1 'convert into a folder that is not there' 'cannot convert .*cannot write .*/none/x.nnrt: No such file or directory$' convert "$folder/open.onnx" "$folder/none/x.nnrt"
refused 2 'metadata without a key' '--meta does not take' convert "$folder/open.onnx" "$folder/x.nnrt" --meta =v
t 0 'convert --shape, .nnrt' convert "$folder/open.nnrt" "$folder/x.nnrt" --shape 5,3
t 0 'convert --shape, .nnrt: info' info "$folder/x.nnrt" --json
py 'convert --shape, .nnrt: info' 'd["inputs"][0]["shape"] == [5, 3] and d["outputs"][0]["shape"] == [3, 5]'

# A bar on a terminal, for one large constant as well: after the first 4 MiB of 16 a quarter of it.
t 0 'convert of a large file' convert "$folder/table.onnx" "$folder/table.nnrt"
silent 'convert of a large file, no terminal'
if ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    skip 'progress on a terminal' 'there is no script(1), or no pseudo-terminal'
    skip 'progress on a terminal, and the result' 'there is no script(1), or no pseudo-terminal'
else
    script -qec "'$nnrt' convert '$folder/table.onnx' '$folder/table.nnrt'" /dev/null </dev/null >"$folder/term" 2>&1
    tr '\r' '\n' <"$folder/term" >"$folder/out"
    prints 'progress on a terminal' '^convert \[#{5,6}\.{18,19}\] 4[0-9]{3}/16[0-9]{3} '
    prints 'progress on a terminal, and the result' 'table.nnrt  16[0-9]{6} bytes$'
fi

# ---- metadata: labels ----

t 0 'labels' convert "$folder/scores.onnx" "$folder/l.nnrt" --labels "$folder/three.txt"
t 0 'run with labels' run "$folder/l.nnrt" --input "$folder/scores.npy" --top 2 --json
py 'labels of the axis that has as many extents' '[[(v["index"], v["label"]) for v in o["top"]] for o in d["outputs"]] == [[([0, 0, 1], "cat"), ([0, 1, 0], "\x1b[1mdog")], [([0, 0, 0], "cat"), ([0, 0, 2], "fo\u00e9l")]]'
t 0 'run with labels' run "$folder/l.nnrt" --input "$folder/scores.npy" --top 3
prints 'label behind the value' '^  \[0,0,1\]  6  cat$'
prints 'a label cannot steer the terminal' '^  \[0,1,0\]  5  \?\[1mdog$'
silent 'run with labels'
t 0 'info with labels' info "$folder/l.nnrt"
prints 'info with labels' '^metadata    labels=3 lines: cat, \?\[1mdog, fo.*l$'
t 0 'info with labels' info "$folder/l.nnrt" --json
py 'info with labels' 'd["metadata"] == {"labels": "cat\n\x1b[1mdog\nfo\u00e9l"}'
t 0 'labels of one output' convert "$folder/scores.onnx" "$folder/l.nnrt" --labels n="$folder/three.txt"
t 0 'run with labels of one output' run "$folder/l.nnrt" --input "$folder/scores.npy" --top 1 --json
py 'labels of one output' '["label" in o["top"][0] for o in d["outputs"]] == [False, True]'
t 0 'labels of one output and of the others' convert "$folder/l.nnrt" "$folder/l2.nnrt" --set 'labels=p
q'
t 0 'run with two sets of labels' run "$folder/l2.nnrt" --input "$folder/scores.npy" --top 1 --json
py 'two sets of labels' '[o["top"][0]["label"] for o in d["outputs"]] == ["q", "cat"]'
refused 1 'labels that fit nothing' 'metadata labels=a...: expected as many lines as the size of an axis of the output, not 4' convert "$folder/scores.onnx" "$folder/x.nnrt" --labels "$folder/four.txt"
refused 1 'labels that do not fit their output' 'metadata labels.s=a...: expected as many lines' convert "$folder/scores.onnx" "$folder/x.nnrt" --labels s="$folder/four.txt"
refused 1 'labels of no output' "metadata labels.z=a: expected an output, one of 's', 'n'" convert "$folder/scores.onnx" "$folder/x.nnrt" --meta labels.z=a
refused 1 'one label' 'metadata labels=a: expected as many lines' convert "$folder/scores.onnx" "$folder/x.nnrt" --meta labels=a
refused 1 'labels of no file' 'cannot open .*nothing.txt' convert "$folder/scores.onnx" "$folder/x.nnrt" --labels "$folder/nothing.txt"
refused 1 'labels without a line' 'has no labels; expected one label per line' convert "$folder/scores.onnx" "$folder/x.nnrt" --labels "$folder/none.txt"
refused 1 'labels that are no text' 'it is not a text file' convert "$folder/scores.onnx" "$folder/x.nnrt" --labels "$folder/zero.txt"
t 0 'labels where an extent is open' convert "$folder/open.onnx" "$folder/x.nnrt" --labels "$folder/four.txt"
t 0 'labels of a .nnrt file' convert "$folder/l.nnrt" "$folder/x.nnrt"
refused 1 'labels that fit nothing in a .nnrt file' 'expected as many lines' convert "$folder/l.nnrt" "$folder/x.nnrt" --labels n="$folder/four.txt"
# metadata_props of an ONNX file
t 0 'metadata_props' run "$folder/props.onnx" --input "$folder/scores.npy" --top 1 --json
py 'metadata_props: labels' '[o["top"][0]["label"] for o in d["outputs"]] == ["a", "a"]'
t 0 'metadata_props: info' info "$folder/props.onnx" --json
py 'metadata_props: info' 'd["metadata"] == {"labels": "a\nb\nc", "author": "else", "input.x.mean": "1"}'
t 0 'metadata_props: convert' convert "$folder/props.onnx" "$folder/props.nnrt" --meta author=
t 0 'metadata_props: info of .nnrt' info "$folder/props.nnrt" --json
py 'metadata_props go into the .nnrt file' 'd["metadata"] == {"labels": "a\nb\nc", "input.x.mean": "1"}'
t 0 'labels in another form' run "$folder/comma.onnx" --input "$folder/scores.npy"
says 'labels in another form are noted' 'note: .*comma.onnx: metadata labels has 1 lines, expected the size of an axis of an output'
t 0 'labels of the file in another form' convert "$folder/comma.onnx" "$folder/x.nnrt"
says 'labels of the file in another form are noted' 'note: .*comma.onnx: metadata labels has 1 lines, expected the size of an axis of an output'
t 0 'labels of the file in another form are kept' info "$folder/x.nnrt" --json
py 'labels of the file in another form are kept' 'd["metadata"]["labels"] == "a,b,c"'
refused 1 'labels that fit nothing, in place of those of the file' 'metadata labels=a...: expected as many lines' convert "$folder/comma.onnx" "$folder/x.nnrt" --labels "$folder/four.txt"
t 0 'labels in another form are dropped' convert "$folder/comma.onnx" "$folder/x.nnrt" --meta labels=

total
