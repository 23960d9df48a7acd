#!/bin/sh
# test_cli_batch.sh: nnrt batch; tests/tools/batch_test.py kills it. Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models batch images large

mkdir "$folder/q" && cp "$digits"/digit_?.png "$folder/q"
for i in 0 1 2 3 4 5 6 7 8 9; do t 0 "run of picture $i" run $digits/digits.onnx --input "$folder/q/digit_$i.png" --output-dir "$folder/q_run$i"; done
b() { # STATUS NAME OUTPUT ARGUMENTS...
    status=$1
    label=$2
    output=$folder/$3
    shift 3
    t "$status" "batch, $label" batch $digits/digits.onnx --output "$output" "$@"
}
no() { # STATUS NAME PATTERN OUTPUT ARGUMENTS...: refused
    status=$1
    label=$2
    pattern=$3
    output=$folder/$4
    shift 4
    refused "$status" "batch, $label" "$pattern" batch $digits/digits.onnx --output "$output" "$@"
}
b 0 'a folder' b_folder --input "$folder/q"
prints 'batch: samples' '^samples +10 in 10 chunks$'
prints 'batch: outputs' 'b_folder/probabilities.npy  float32\[10,10\]$'
silent 'batch'
py 'batch: rows as those of run' "all(np.array_equal(np.load(F + 'b_folder/probabilities.npy')[i:i + 1], np.load(F + 'q_run%d/probabilities.npy' % i)) for i in range(10))"
py 'batch: names' "open(F + 'b_folder/names.txt').read() == ''.join(F + 'q/digit_%d.png\n' % i for i in range(10))"
py 'batch: no other files' "sorted(os.listdir(F + 'b_folder')) == ['batch.txt', 'names.txt', 'probabilities.npy']"
b 0 'again' b_folder --input "$folder/q" --jobs 2
prints 'batch, again' '^computed +0 now, 10 before$'
b 0 'processes, other chunks' b_jobs --input "$folder/q" --jobs 3 --chunk 3
same 'batch: --jobs and --chunk change the bytes' "$folder/b_jobs/probabilities.npy" "$folder/b_folder/probabilities.npy"
printf '%s\r\n' "$folder/q/digit_9.png" "$folder/q/digit_1.png" >"$folder/list.txt"
b 0 'a list' b_list --input "$folder/list.txt"
py 'batch: a list has an order' "np.array_equal(np.load(F + 'b_list/probabilities.npy'), np.load(F + 'b_folder/probabilities.npy')[[9, 1]])"
py 'samples as arrays and as text' "np.save(F + 'rows.npy', np.random.default_rng(1).random((7, 1, 28, 28), np.float32)) is None and np.savetxt(F + 'rows.csv', np.load(F + 'rows.npy').reshape(7, -1), '%.9g', delimiter=',', header='a,b', comments='') is None and np.savetxt(F + 'tabs.csv', np.load(F + 'rows.npy').reshape(7, -1), '%.9g', delimiter='\t') is None"
b 0 'an array' b_rows --input "$folder/rows.npy" --chunk 2
for f in rows tabs; do
    b 0 "a table, $f" "b_$f.csv" --input "$folder/$f.csv"
    same "batch: $f.csv and rows.npy give different rows" "$folder/b_$f.csv/probabilities.npy" "$folder/b_rows/probabilities.npy"
done
b 0 'some samples' b_some --input "$folder/rows.npy" --samples 5
py 'batch --samples' "np.array_equal(np.load(F + 'b_some/probabilities.npy'), np.load(F + 'b_rows/probabilities.npy')[:5])"
t 0 'quantize, 8-bit inputs' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --int8-io --samples 1
t 0 'batch, real values for 8-bit inputs' batch "$folder/q8.nnrt" --input "$folder/q" -o "$folder/b_int8"
t 0 'quantize, samples as text' quantize $digits/digits.onnx --data "$folder/rows.csv" -o "$folder/text.nnrt" --processor vnni
t 0 'quantize, samples as an array' quantize $digits/digits.onnx --data "$folder/rows.npy" -o "$folder/array.nnrt" --processor vnni
same 'quantize: samples as text and as an array give different models' "$folder/text.nnrt" "$folder/array.nnrt"
# batches: x[n,3]; y = -x is a row for each of x, the transposed x is none
for n in 1 4 11 20; do
    t 0 "batch --batch $n" batch "$folder/neg.onnx" --input "$folder/eleven.npy" --batch $n --output "$folder/b_neg$n"
    py "batch --batch $n" "same(np.load(F + 'b_neg$n/y.npy'), -np.load(F + 'eleven.npy'))"
done
t 0 'batch, rows with another shape' batch "$folder/open.onnx" --input "$folder/eleven.npy" --output "$folder/b_open"
py 'batch, rows with another shape' "same(np.load(F + 'b_open/y.npy'), np.load(F + 'eleven.npy').reshape(11, 3, 1))"
refused 1 'batch --batch, no rows' "the first dimension of output 'y' is not that of the inputs" batch "$folder/open.onnx" --input "$folder/eleven.npy" --batch 3 --output "$folder/b_no"
no 1 '--batch of a fixed model' "--batch 2: input 'image' is float32\[1,1,28,28\], its first dimension is not 2" b_no --input "$folder/q" --batch 2
refused 2 'batch, dynamic dimensions' "input 'x' is float32\[1,h,w,3\], .*with some that fit: .* --dim h=64 --dim w=64$" batch "$folder/last.onnx" --input "$folder/q" --output "$folder/b_no"
refused 1 'batch, rows of different sizes' "output 'n' is int64\[2,.*: its rows would have different sizes" batch "$folder/many.onnx" --shape 1000,1250 --input "$folder/many.npy" --output "$folder/b_no"

# ---- samples ----

no 2 'no samples' '--input PATH is missing' b_no
refused 2 'batch, no folder' '--output DIR is missing' batch $digits/digits.onnx --input "$folder/q"
no 1 'a missing file' 'cannot open .*/none: No such file' b_no --input "$folder/none"
mkdir "$folder/no-samples"
no 1 'an empty folder' '/no-samples has no samples: expected .npy' b_no --input "$folder/no-samples"
no 1 'a wrong shape' "eleven.npy is float32\[11,3\], input 'image' takes float32\[1,1,28,28\]" b_no --input "$folder/eleven.npy"
refused 1 'batch, a damaged model' 'cannot load .*list.txt' batch "$folder/list.txt" --input "$folder/q" --output "$folder/b_no"
printf '1,2\n1\n' >"$folder/short.csv"
no 1 'a short line' 'short.csv: line 1 lacks a number in column 3 .* expected 784 numbers' b_no --input "$folder/short.csv"
printf 'a,b,c\n1,2,3\n4,x,6\n' >"$folder/word.csv"
refused 1 'batch, a word' 'word.csv: line 3 lacks a number in column 2' batch "$folder/neg.onnx" --input "$folder/word.csv" --output "$folder/b_no"
printf '\357\273\277"a",b,c\n1,nan,3\n' >"$folder/mark.csv"
t 0 'batch, a byte order mark' batch "$folder/neg.onnx" --input "$folder/mark.csv" --output "$folder/b_mark"
py 'batch, a byte order mark' "np.array_equal(np.load(F + 'b_mark/y.npy'), np.array([[-1, np.nan, -3]], np.float32), equal_nan=True)"
printf ',2,3\n4,5,6\n' >"$folder/gap.csv"
refused 1 'batch, a missing number in the first line' 'gap.csv: line 1 lacks a number in column 1' batch "$folder/neg.onnx" --input "$folder/gap.csv" --output "$folder/b_no"
printf '1,2,3,4\n' >"$folder/long.csv"
refused 1 'batch, a long line' 'long.csv: line 1 .* has more columns, expected 3 numbers' batch "$folder/neg.onnx" --input "$folder/long.csv" --output "$folder/b_no"
printf '' >"$folder/empty.csv"
refused 1 'batch, an empty table' 'empty.csv: it has 0 lines' batch "$folder/neg.onnx" --input "$folder/empty.csv" --output "$folder/b_no"
printf '1,2\n3,255\n' >"$folder/fit.csv"
t 0 'batch, integers as text' batch "$folder/bytes.onnx" --input "$folder/fit.csv" --output "$folder/b_bytes"
py 'batch, integers as text' "same(np.load(F + 'b_bytes/y.npy'), np.array([[1, 2], [3, 255]], np.uint8))"
printf '1,2\n3,256\n' >"$folder/fit.csv"
refused 1 'batch, an integer that does not fit' 'fit.csv: line 2 has 256 in column 2, which uint8 cannot hold' batch "$folder/bytes.onnx" --input "$folder/fit.csv" --output "$folder/b_no"
echo "$folder/none.png" >"$folder/list.txt"
no 1 'a list with a missing file' "list.txt: cannot use .*none.png: there is no such file$" b_no --input "$folder/list.txt"
cp -R "$folder/q" "$folder/damaged"
head -c 60 "$folder/q/digit_3.png" >"$folder/damaged/digit_3.png"
no 1 'a damaged picture' 'damaged/digit_3.png: it is cut short or damaged' b_skip --input "$folder/damaged"
b 0 'a damaged picture, skipped' b_skip --input "$folder/damaged" --skip-bad
py 'batch --skip-bad' "np.array_equal(np.isnan(np.load(F + 'b_skip/probabilities.npy')).all(1), np.arange(10) == 3)"
py 'batch --skip-bad: the others' "np.array_equal(np.delete(np.load(F + 'b_skip/probabilities.npy'), 3, 0), np.delete(np.load(F + 'b_folder/probabilities.npy'), 3, 0))"
py 'batch --skip-bad: the list' "open(F + 'b_skip/bad.txt').read() == '3\t' + F + 'damaged/digit_3.png\n'"

# ---- every form of sample, every damage ----

mkdir "$folder/bad" "$folder/bad/01.npy" && ln -s none "$folder/bad/02.npy" && : >"$folder/bad/03.npy" && echo text >"$folder/bad/04.npy"
mkfifo "$folder/bad/05.npy"
py 'damaged samples' "[np.save(F + 'bad/%s.npy' % n, a) for n, a in (('00', np.ones((1, 3), 'f')), ('06', np.ones((3, 3), 'f')), ('07', np.ones((1, 4), 'f')), ('08', np.ones((1, 3), 'i8')), ('09', np.array(['a', 'b', 'c'])), ('14', np.full((1, 3), 2, 'f')))] != 0"
py 'damaged samples: a file cut in its third row' "(lambda f: (f.truncate(128 + 30), f.close()) != 0)(open(F + 'bad/06.npy', 'r+b'))"
printf '1,2,3\n4,x,6\n7,8\n5,6,7\n' >"$folder/bad/10.csv"
: >"$folder/bad/11.csv" && echo text >"$folder/bad/x12.pb" && mkdir "$folder/bad/x13.pb"
echo 'a text beside the samples' >"$folder/bad/readme"
for f in 01.npy:'a folder without' 02.npy:'a link to a file that does not exist' 03.npy:'' 04.npy:'does not begin' 05.npy:'no regular file' 06.npy:'' 07.npy:'takes' 08.npy:'int64' \
    09.npy:'' 10.csv:'line 2 lacks a number in column 2' 11.csv:'0 lines' x12.pb:'' x13.pb:'a folder'; do
    mkdir "$folder/one" && cp -R "$folder/bad/${f%%:*}" "$folder/one/"
    refused 1 "batch, without --skip-bad: ${f%%:*}" "${f%%:*}.*${f#*:}" batch "$folder/neg.onnx" --input "$folder/one" --output "$folder/b_no"
    rm -rf "$folder/one" "$folder/b_no"
done
t 0 'batch --skip-bad, all forms' batch "$folder/neg.onnx" --input "$folder/bad" --output "$folder/b_bad" --skip-bad
py 'batch --skip-bad, all forms: good rows' "(lambda y: same(y[~np.isnan(y).any(1)], -np.array([[1] * 3, [1, 2, 3], [5, 6, 7], [2] * 3], 'f')) and np.isnan(y).any(1).tolist() == [i in (*range(1, 10), 11, 12, 14, 16, 17) for i in range(18)])(np.load(F + 'b_bad/y.npy'))"
py 'batch --skip-bad, all forms: the list' "[l.split('\\t')[0] + ' ' + l.split('/')[-1] for l in open(F + 'b_bad/bad.txt').read().splitlines()] == ['%d 0%d.npy' % (i, i) for i in range(1, 10)] + ['11 10.csv', '12 10.csv', '14 11.csv', '16 x12.pb', '17 x13.pb']"
t 0 'batch --skip-bad, processes' batch "$folder/neg.onnx" --input "$folder/bad" --output "$folder/b_bad2" --skip-bad --jobs 2 --chunk 3
same 'batch --skip-bad, processes' "$folder/b_bad/y.npy" "$folder/b_bad2/y.npy"
same 'batch --skip-bad, processes: the list' "$folder/b_bad/bad.txt" "$folder/b_bad2/bad.txt"
for shard in 1 0; do t 0 "batch --skip-bad, shard $shard" batch "$folder/neg.onnx" --input "$folder/bad" --output "$folder/b_bad3" --skip-bad --batch 2 --shard $shard/2; done
t 0 'batch --skip-bad, merge' batch "$folder/neg.onnx" --input "$folder/bad" --output "$folder/b_bad3" --skip-bad --batch 2 --merge
same 'batch --skip-bad, shards' "$folder/b_bad/y.npy" "$folder/b_bad3/y.npy"
same 'batch --skip-bad, shards: the list' "$folder/b_bad/bad.txt" "$folder/b_bad3/bad.txt"
for f in "$folder"/bad/[01x]*; do echo "$f"; done >"$folder/bad.txt"
echo "$folder/none.npy" >>"$folder/bad.txt"
echo "$folder/bad/readme" >>"$folder/bad.txt"
t 0 'batch --skip-bad, a list' batch "$folder/neg.onnx" --input "$folder/bad.txt" --output "$folder/b_bad4" --skip-bad
py 'batch --skip-bad, a list' "(lambda y, z: same(y[:18], z) and np.isnan(y[18:]).all() and len(y) == 20)(np.load(F + 'b_bad4/y.npy'), np.load(F + 'b_bad/y.npy'))"
for end in png jpg wav; do
    cp -R "$folder/q" "$folder/$end" && mkdir "$folder/$end/digit_a.$end" && ln -s none "$folder/$end/digit_b.$end" && : >"$folder/$end/digit_c.$end"
    echo text >"$folder/$end/digit_d.$end"
    b 0 "--skip-bad, .$end" "b_$end" --input "$folder/$end" --skip-bad
    py "batch --skip-bad, .$end" "(lambda y: same(y[:10], np.load(F + 'b_folder/probabilities.npy')) and np.isnan(y[10:]).all() and len(y) == 14)(np.load(F + 'b_$end/probabilities.npy'))"
done
t 0 'quantize --skip-bad' quantize $digits/digits.onnx --data "$folder/png" -o "$folder/q8.nnrt" --skip-bad --processor vnni
prints 'quantize --skip-bad' '^samples +10$'
says 'quantize --skip-bad' 'note: .*/png: 4 of 14 samples are left out$'
says 'quantize --skip-bad: each' 'digit_b.png: it is a link to a file that does not exist$'
t 1 'quantize without --skip-bad' quantize $digits/digits.onnx --data "$folder/png" -o "$folder/q8.nnrt" --processor vnni
for i in 0 1 2 3 4 5 6 7 8 9; do echo "digit_$i.png $i"; done >"$folder/classes.txt"
for i in a b c d; do echo "digit_$i.png 0"; done >>"$folder/classes.txt"
t 0 'accuracy --skip-bad' accuracy $digits/digits.onnx --data "$folder/png" --labels "$folder/classes.txt" --skip-bad --json
py 'accuracy --skip-bad' 'd["samples"] == 10 and d["models"][0]["top1"] == 10'
mkdir "$folder/none" "$folder/none/a.png"
t 1 'quantize --skip-bad, no good sample' quantize $digits/digits.onnx --data "$folder/none" -o "$folder/q8.nnrt" --skip-bad --processor vnni
says 'quantize --skip-bad, no good sample' 'none: none of the 1 samples can be used$'

# ---- where results go ----

no 1 'other chunks' "the results there are of 'chunk 1', this command has 'chunk 2'; repeat that command" b_folder --input "$folder/q" --chunk 2
no 1 'other samples' "the results there are of 'samples 10, .*', this command has 'samples 7, " b_folder --input "$folder/rows.npy"
no 1 'other options' "the results there are of 'options', this command has 'options --invert'" b_folder --input "$folder/q" --invert
refused 1 'batch, another model' "the results there are of 'model [0-9a-f]{16}', this command has 'model [0-9a-f]{16}'" batch $digits/digits_int8.onnx --input "$folder/q" --output "$folder/b_folder"
mkdir "$folder/foreign"
cp "$folder/rows.npy" "$folder/foreign/probabilities.npy"
no 1 'results of others' 'foreign has results and no batch.txt' foreign --input "$folder/q"
no 2 'results among the samples' 'the results would become samples; give another --output' q --input "$folder/q/."
no 1 'a file for a folder' 'cannot write to .*/rows.npy: it is not a folder' rows.npy --input "$folder/q"
no 1 'a folder that cannot be made' 'cannot create the folder .*/rows.npy/x: Not a directory' rows.npy/x --input "$folder/q"

# ---- shards ----

for shard in 3/3 -1/2 1 1/0 1/2/3 /2 1/; do no 2 "--shard $shard" "--shard $shard: " b_no --input "$folder/q" "--shard=$shard"; done
no 2 '--shard env without' 'none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX and PARALLEL_SEQ is set' b_no --input "$folder/q" --shard env
no 2 '--shard and --merge' '--merge joins the chunks of all shards; omit --shard' b_no --input "$folder/q" --shard 0/2 --merge
no 1 '--merge of nothing' 'has no batch.txt: nothing was computed there' b_none --input "$folder/q" --merge
b 0 'a shard' b_shard --input "$folder/q" --shard 1/3
prints 'batch --shard' '^computed +3 now, 0 before$'
no 1 '--merge too early' 'b_shard lacks 7 of 10 chunks' b_shard --input "$folder/q" --merge
b 0 'the other shard' b_shard --input "$folder/q" --shard 2/3
printf 'x' >"$folder/b_shard/chunks/probabilities.000000.npy"
b 0 'the first shard' b_shard --input "$folder/q" --shard 0/3
no 1 '--merge of a damaged chunk' 'probabilities.000000.npy is not the file that was written there; remove it and run' b_shard --input "$folder/q" --merge
rm "$folder/b_shard/chunks/probabilities.000000.npy"
b 0 'what is missing' b_shard --input "$folder/q"
prints 'batch, what is missing' '^computed +1 now, 9 before$'
same 'batch: --shard changes the bytes' "$folder/b_shard/probabilities.npy" "$folder/b_folder/probabilities.npy"

# ---- processes ----

no 2 '--jobs and --threads' '--jobs excludes --threads and --performance' b_no --input "$folder/q" --jobs 2 --threads 2
no 2 '--jobs and another device' '--jobs is not for device ' b_no --input "$folder/q" --jobs 2 --device fake:name=npu
no 1 'a damaged picture, processes' 'damaged/digit_3.png: it is cut short or damaged' b_wrong --input "$folder/damaged" --jobs 2

total
