#!/bin/sh
# test_cli_run.sh: nnrt run: tensor files, sounds, random inputs, results of every node. Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models turns sets sounds

# ---- run: digits ----

program=$plain
for n in 0 1 2 3 4 5 6 7 8 9; do
    t 0 "digit $n" run $digits/digits.onnx --input $digits/digit_$n.png --top 1
    prints "digit $n" "^  $n  (1|0\.[0-9]+)\$"
done
program=$sanitized
t 0 'digit, JSON, NAME=' run $digits/digits.onnx --json --device reference --threads 2 --input image=$digits/digit_7.png
py 'digit as JSON' 'len(d["outputs"][0]["top"]) == 5 and d["outputs"][0]["top"][0]["index"] == [0, 7] and d["outputs"][0]["top"][0]["value"] > 0.7 and d["threads"] == 1 and d["run_ms"] > 0'
says 'threads that nothing uses' 'note: --threads 2: the devices use 1'
t 0 'options may stand first' run --top=2 --input=$digits/digit_3.png -- $digits/digits.onnx
prints 'options may stand first' '^  3  '
py 'top 2 prints 2 values' 'len(open(F + "out").read().splitlines()) == 3'

# ---- run: tensor files ----

# Each kind of file with sanitizers for some types, with the others for its values.
for type in bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64; do
    case $type in bool | float32 | int64) program=$sanitized ;; *) program=$plain ;; esac
    for file in c_$type.npy f_$type.npy b_$type.npy v2_$type.npy v3_$type.npy p_$type.pb; do
        rm -rf "$folder/o"
        t 0 "run $file" run "$folder/turn_$type.onnx" --input "$folder/$file" --output-dir "$folder/o"
        py "run $file" "same(load('o/y.npy'), load('c_$type.npy').transpose(2, 0, 1).copy())"
        silent "run $file"
    done
done
program=$sanitized
t 0 'output files' run "$folder/turn_float32.onnx" --input "$folder/c_float32.npy" --output-dir "$folder/o" --json
py 'output files in JSON' 'd["outputs"] == [{"name": "y", "type": "float32", "shape": [4, 2, 3], "file": F + "o/y.npy"}]'
py 'output files are aligned as numpy does' "open(F + 'o/y.npy', 'rb').read()[:128].rstrip().endswith(b', }') and os.path.getsize(F + 'o/y.npy') == 128 + 96"
t 0 'header in another order' run "$folder/two.onnx" --input a="$folder/spaced.npy" --input b="$folder/b.npy" --output-dir "$folder/two"
py 'two outputs whose names collide' "same(load('two/sum_out.npy'), load('a.npy') + load('b.npy')) and same(load('two/sum_out_2.npy'), load('a.npy') - load('b.npy'))"
t 0 'names of files' run "$folder/names.onnx" --input random -o "$folder/names/"
prints 'the table has name and file' "'d' .*/_c____d_\\.npy\$"
py 'names of files' "sorted(os.listdir(F + 'names')) == sorted(['A.npy', 'a_2.npy', '_b.npy', '_c____d_.npy', 'e\u00e9.npy', 'A_2_2.npy', 'e' * 200 + '.npy', 'e' * 200 + '_2.npy'])"
t 0 'largest of a matrix' run "$folder/two.onnx" --input b="$folder/b.npy" --input a="$folder/a.npy" --top 1
prints 'largest of a matrix' '^  \[1,1\]  44$'
t 0 'float64 for float32' run "$folder/two.onnx" --input a="$folder/d.npy" --input b="$folder/b.npy" --output-dir "$folder/two"
says 'float64 for float32' "note: .*d.npy holds float64, converted to the float32 of input 'a'"
py 'float64 beyond float32' "np.isinf(load('two/sum_out.npy')[1, 1]) and load('two/sum_out.npy')[0, 0] == 11"
t 0 'int32 for int64' run "$folder/gather.onnx" --input "$folder/i32.npy" --output-dir "$folder/gather"
says 'int32 for int64' 'note: .*int32, converted to the int64'
py 'int32 for int64' "load('gather/y.npy').tolist() == [30, 10]"
refused 1 'the run fails' 'run failed: ' run "$folder/gather.onnx" --input "$folder/i64.npy"
t 0 'NaN and infinity' run "$folder/sqrt.onnx" --input "$folder/four.npy" --json
py 'NaN and infinity are null, NaN last' '[x["value"] for x in d["outputs"][0]["top"]] == [None, 3, 2, None] and [x["index"] for x in d["outputs"][0]["top"]] == [[2], [3], [0], [1]]'
t 0 'NaN and infinity' run "$folder/sqrt.onnx" --input "$folder/four.npy"
prints 'infinity is printed' '^  2  inf$'
t 0 'an open extent from a file' run "$folder/open.onnx" --input "$folder/rows.npy" --output-dir "$folder/open"
py 'an open extent from a file' "same(load('open/y.npy'), load('rows.npy').T.copy())"
for rows in rows one; do
    t 0 "run --max: $rows" run "$folder/open.onnx" --max 8,3 --input "$folder/$rows.npy" --output-dir "$folder/open"
    silent "run --max: $rows"
    py "run --max: $rows" "same(load('open/y.npy'), load('$rows.npy').T.copy())"
done
prints 'run --max tells the extents of the run' '^y  float32\[3,1\]'
t 0 'run --max and --shape' run "$folder/open.onnx" --max 8,3 --shape 2,3 --input random
prints 'run --max and --shape' '^y  float32\[3,2\]$'
t 0 'run --max alone' run "$folder/open.onnx" --max 8,3 --input random
prints 'run --max alone' '^y  float32\[3,8\]$'
silent 'run --max alone'
refused 1 'a file beyond --max' "rows.npy is float32\[5,3\], which exceeds --max for input 'x', float32\[4,3\]" run "$folder/open.onnx" --max 4,3 --input "$folder/rows.npy"
t 0 'a parameter told in the run' run "$folder/shape.onnx" --max x=6,3 --input x="$folder/rows.npy" --input shape="$folder/shape.npy" --output-dir "$folder/shape_max"
silent 'a parameter told in the run'
py 'a parameter told in the run' "same(load('shape_max/y.npy'), load('rows.npy').reshape(3, 5))"
t 0 'a result with --max' run "$folder/filled.onnx" --max y=4,6 --input "$folder/shape.npy"
prints 'a result with --max' '^y  float32\[3,5\]$'
refused 1 'a result beyond --max' 'run failed: .*above its upper bound of float32\[2,6\]' run "$folder/filled.onnx" --max y=2,6 --input "$folder/shape.npy"
t 0 '64-bit integers are printed exactly' run "$folder/turn_int64.onnx" --input "$folder/big.npy" --top 1 --json
py '64-bit integers are printed exactly' 'd["outputs"][0]["top"][0]["value"] == 1 << 40'
t 0 'a parameter as input' run "$folder/shape.onnx" --input x="$folder/rows.npy" --input shape="$folder/shape.npy" --output-dir "$folder/shape"
silent 'a parameter as input'
prints 'a parameter as input' '^y  float32\[3,5\]'
py 'a parameter as input' "same(load('shape/y.npy'), load('rows.npy').reshape(3, 5))"
refused 1 'a parameter that does not fit' "the run failed: node 0 .* input 'x' float32\[1,3\] has 3 elements, which do not fill" run "$folder/shape.onnx" --input random --shape x=1,3
t 0 'extents that a run tells' info "$folder/shape.onnx" --shape x=5,3
prints 'extents that a run tells' '^output +y  float32\[15,15\]  at most$'
t 0 'extents that a run tells, JSON' info "$folder/shape.onnx" --shape x=5,3 --json
py 'extents that a run tells, JSON' 'd["outputs"][0]["open"] is True and d["outputs"][0]["shape"] == [15, 15]'
t 0 'a parameter that bounds' run "$folder/fill.onnx" --input shape="$folder/shape.npy" --input random --output-dir "$folder/fill"
says 'a parameter that bounds' "note: the value of input 'shape' is a constant of the model now"
py 'a parameter that bounds' "same(load('fill/y.npy'), np.zeros((3, 5), 'float32'))"
refused 1 'a parameter that is not known' "cannot prepare .*fill.onnx: .*nothing bounds output 0 'y'" run "$folder/fill.onnx" --input random
t 0 'no shape in the file' run "$folder/rank.onnx" --input "$folder/rows.npy" --output-dir "$folder/rank"
py 'no shape in the file' "same(load('rank/y.npy'), -load('rows.npy'))"
t 0 'no shape in the file, --shape' info "$folder/rank.onnx" --shape 2,3
prints 'no shape in the file, --shape' '^input +x  float32\[\*\]$'
refused 2 'no shape at all' "input 'x' has no shape in the file" bench "$folder/rank.onnx"
refused 1 'strings' "input 'x' is not a tensor of a supported element type" run "$folder/string.onnx" --input random
refused 2 'an input without value' "no value for input 'a', 'b'" run "$folder/two.onnx"
refused 2 'one input without value' "no value for input 'b'" run "$folder/two.onnx" --input a="$folder/a.npy"
refused 2 'an input twice' "input 'a' already has .*a.npy" run "$folder/two.onnx" --input a="$folder/a.npy" --input a="$folder/b.npy"
refused 2 'no such input' "^nnrt: --input bb=[^ ]*: the model has no input 'bb'; its inputs are 'b', 'a'$" run "$folder/two.onnx" --input bb="$folder/a.npy"
refused 2 'no such input of one' "^nnrt: --input foo=[^ ]*digit_7.png: the model has no input 'foo'; its input is 'image'$" run $digits/digits.onnx --input foo=$digits/digit_7.png
refused 2 'no such input, random' "the model has no input 'foo'; its input is 'image'$" run $digits/digits.onnx --input foo=random
cp $digits/digit_7.png "$folder/eq=7.png"
t 0 'a file with = in its name' run $digits/digits.onnx --input "$folder/eq=7.png" --top 1
refused 1 'no such file' 'cannot open .*none.npy: No such file' run "$folder/sqrt.onnx" --input "$folder/none.npy"
refused 1 'a folder' 'cannot read .*: Is a directory' run "$folder/sqrt.onnx" --input "$folder/good"
refused 1 'wrong rank' "flat.npy is float32\[6\], input 'x' takes float32\[\?,3\]" run "$folder/open.onnx" --input "$folder/flat.npy"
refused 1 'wrong extent' "rows.npy is float32\[5,3\], input 'a' takes float32\[2,2\]" run "$folder/two.onnx" --input a="$folder/rows.npy" --input b=random
refused 1 'wrong type' "holds float32, input 'x' takes int32" run "$folder/turn_int32.onnx" --input "$folder/c_float32.npy"
refused 1 'bool is no number' "holds bool, input 'x' takes uint8" run "$folder/turn_uint8.onnx" --input "$folder/c_bool.npy"
refused 1 'integers that do not fit' 'a value outside the range of int32' run "$folder/turn_int32.onnx" --input "$folder/big.npy"
refused 1 'text' 'its element type is not one of' run "$folder/sqrt.onnx" --input "$folder/text.npy"
refused 1 'nine axes' 'more than 8 axes' run "$folder/sqrt.onnx" --input "$folder/deep.npy"
for file in cut long; do refused 1 "$file" 'do not match its shape and type' run "$folder/two.onnx" --input a="$folder/$file.npy" --input b=random; done
refused 1 'header cut' 'ends inside the header' run "$folder/two.onnx" --input a="$folder/head.npy" --input b=random
refused 1 'header damaged' 'its header has a key' run "$folder/two.onnx" --input a="$folder/junk.npy" --input b=random
refused 1 'junk.pb' 'cannot use .*junk.pb: ' run "$folder/sqrt.onnx" --input "$folder/junk.pb"
refused 1 'junk.txt' 'expected a .npy, .png, .jpg, .wav or .pb file' run "$folder/sqrt.onnx" --input "$folder/junk.txt"
refused 1 'output folder is a file' 'it is not a folder' run "$folder/two.onnx" --input random --output-dir "$folder/a.npy"
refused 1 'output folder cannot be' 'cannot create the folder' run "$folder/two.onnx" --input random --output-dir "$folder/none/o"

# ---- run: the result of every node ----

t 0 'convert for --dump' convert $digits/digits.onnx "$folder/plain.nnrt" --no-optimize
t 0 'run --dump' run "$folder/plain.nnrt" --input $digits/digit_7.png --dump "$folder/dump" --output-dir "$folder/dump_out"
says 'run --dump: how many' '^nnrt: note: 17 results are in '
py 'run --dump: a file for each node, and a table' 'sorted(os.listdir(F + "dump")) == sorted(["index.tsv"] + ["%04d_%s.npy" % (i, n) for i, n in enumerate("conv1 bn1 relu1 pool1 conv2 bn2 relu2 pool2 conv3 bn3 relu3 pool3 flatten fc1 relu4 fc2 probabilities".split())])'
py 'run --dump: the table' 'open(F + "dump/index.tsv").read().splitlines()[4].split("\t") == ["0003_pool1.npy", "3", "pool1", "MAX_POOL_FUSION", "pool1", "float32[1,12,14,14]"]'
py 'run --dump: a ReLU' 'np.array_equal(np.load(F + "dump/0002_relu1.npy"), np.maximum(np.load(F + "dump/0001_bn1.npy"), 0)) and np.load(F + "dump/0001_bn1.npy").min() < 0'
py 'run --dump: a pool' 'np.array_equal(np.load(F + "dump/0003_pool1.npy"), np.load(F + "dump/0002_relu1.npy").reshape(1, 12, 14, 2, 14, 2).max((3, 5)))'
py 'run --dump: a softmax' '(lambda x, y: np.allclose(y, np.exp(x - x.max()) / np.exp(x - x.max()).sum(), 1e-5, 1e-7))(np.load(F + "dump/0015_fc2.npy"), np.load(F + "dump/0016_probabilities.npy"))'
same 'run --dump: the output is the output' "$folder/dump/0016_probabilities.npy" "$folder/dump_out/probabilities.npy"
t 0 'run --dump on two devices' run "$folder/plain.nnrt" --input $digits/digit_7.png --device fake:name=npu0,ops=CONV2D_FUSION+SOFTMAX --device auto:npu0 --dump "$folder/dump_auto"
same 'run --dump: a split model has the bits of the reference device' "$folder/dump" "$folder/dump_auto"
refused 1 'run --dump: the folder is a file' 'it is not a folder' run "$folder/plain.nnrt" --input random --dump "$folder/a.npy"
refused 1 'run --dump: no such folder' 'cannot create the folder' run "$folder/plain.nnrt" --input random --dump "$folder/none/o"

# ---- run: random ----

t 0 'random' run "$folder/turn_float32.onnx" --input random --output-dir "$folder/r"
py 'random float32, seed 0' "same(load('r/y.npy'), np.array([(z >> 40) / 2**23 - 1 for z in splitmix(0, 24)], 'float32').reshape(2, 3, 4).transpose(2, 0, 1).copy())"
t 0 'random:7' run "$folder/turn_float16.onnx" --input x=random:7 --output-dir "$folder/r"
py 'random float16, seed 7' "same(load('r/y.npy'), np.array([(z >> 53) / 1024 - 1 for z in splitmix(7, 24)], 'float16').reshape(2, 3, 4).transpose(2, 0, 1).copy())"
t 0 'random int32' run "$folder/turn_int32.onnx" --input random --output-dir "$folder/r"
py 'random int32' "same(load('r/y.npy'), np.array([z >> 61 for z in splitmix(0, 24)], 'int32').reshape(2, 3, 4).transpose(2, 0, 1).copy())"
t 0 'random bool' run "$folder/turn_bool.onnx" --input random --output-dir "$folder/r"
py 'random bool' "same(load('r/y.npy'), np.array([z >> 63 for z in splitmix(0, 24)], 'bool').reshape(2, 3, 4).transpose(2, 0, 1).copy())"
t 0 'random for the rest' run "$folder/two.onnx" --input a="$folder/a.npy" --input random:3 --output-dir "$folder/r"
py 'random for the rest, second input' "same(load('r/sum_out.npy'), load('a.npy') + np.array([(z >> 40) / 2**23 - 1 for z in splitmix(3 + (1 << 32), 4)], 'float32').reshape(2, 2))"
t 0 'random with open extents' run "$folder/open.onnx" --input random
says 'random with open extents' 'its batch is 1; --dim n=N sets it'
t 0 'random with --shape' run "$folder/open.onnx" --input random --shape 6,3
prints 'random with --shape' '^y  float32\[3,6\]$'
silent 'random with --shape'
refused 2 'random twice' 'the remaining inputs already have random' run "$folder/two.onnx" --input random --input random:2
refused 1 'random with words' 'cannot open random:x' run "$folder/sqrt.onnx" --input random:x

# ---- run: sounds ----

# samples / 32768; a file that is not exactly such a sound is refused
for i in 0 1 2 3; do
    for f in a b c; do
        t 0 "a sound, model $i, $f.wav" run "$folder/sound$i.onnx" --input "$folder/$f.wav" --output-dir "$folder/sound_out"
        py "a sound, model $i, $f.wav" "(lambda y: y.shape == [(8,), (1, 8), (1, 8, 1), (1, 8)][$i] and (y.ravel() == np.maximum(np.load(F + 'sound.npy') / 32768, 0)).all())(np.load(F + 'sound_out/y.npy'))"
    done
done
refused 1 'a sound of two channels' 'two.wav: it has 2 channels, expected one: sox' run "$folder/sound0.onnx" --input "$folder/two.wav"
refused 1 'a sound of 24 bits' 'wide.wav: it has samples of 24 bits in format 1, expected 16 bits' run "$folder/sound0.onnx" --input "$folder/wide.wav"
refused 1 'a sound of floats' 'samples of 16 bits in format 3, expected' run "$folder/sound0.onnx" --input "$folder/float.wav"
refused 1 'a sound with gaps' 'its samples take 4 bytes each, expected 2' run "$folder/sound0.onnx" --input "$folder/gaps.wav"
refused 1 'a sound with few samples' "few.wav: it has 7 samples, input 'x' takes 8: sox" run "$folder/sound1.onnx" --input "$folder/few.wav"
refused 1 'a sound that is cut' 'cut.wav: it states 5000 bytes after its first 8 and has 52' run "$folder/sound0.onnx" --input "$folder/cut.wav"
refused 1 'a sound from a pipe' 'it states 4294967295 bytes' run "$folder/sound0.onnx" --input "$folder/pipe.wav"
refused 1 'a sound with a long chunk' "no complete chunk 'data'" run "$folder/sound0.onnx" --input "$folder/long.wav"
refused 1 'a sound of odd bytes' 'its samples take 15 bytes, expected an even number' run "$folder/sound0.onnx" --input "$folder/odd.wav"
refused 1 'a sound with a long first chunk' "no complete chunk 'fmt '" run "$folder/sound0.onnx" --input "$folder/before.wav"
refused 1 'a sound without samples' 'it has 0 samples' run "$folder/sound3.onnx" --input "$folder/none.wav"
for i in 4 5 6; do
    refused 1 "a sound for input $i" "input 'x' is .*, expected \[N\], \[1,N\] or \[1,N,1\] for a sound" run "$folder/sound$i.onnx" --input "$folder/a.wav"
done

total
