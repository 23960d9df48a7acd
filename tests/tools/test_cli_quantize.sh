#!/bin/sh
# test_cli_quantize.sh: nnrt quantize. Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models half sounds shared old sensitive

# calm NAME: nothing on standard error but that the 8-bit file is slower, which the load of the machine may cause
calm() { if grep -v 'a run takes .* ms in float32; ' "$folder/err" | grep -q .; then fail "$1: something on standard error"; else pass; fi; }

mkdir "$folder/q" "$folder/q0" "$folder/q2" && cp "$digits"/digit_?.png "$folder/q"
t 0 'quantize' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --processor vnni
prints 'quantize: samples' '^samples +10$'
prints 'quantize: nodes' '^nodes +9 of 10 quantized, 4 with weights$'
prints 'quantize: the processor' '^processor +vnni, weights of 8 bits$'
prints 'quantize: the node that is faster in float32' '^float32 +faster +CONV2D_FUSION:image:relu1$'
prints 'quantize: times' '^time +float32 [0-9.]+ ms, 8 bits [0-9.]+ ms [(][0-9.]+[)], predicted 0\.[0-9]+$'
prints 'quantize: agreement' '^output +probabilities  [3-9][0-9]\.[0-9] dB, the same largest element in 10 of 10 samples$'
calm 'quantize'
t 0 'info of a quantized model' info "$folder/q8.nnrt" --json
py 'info of a quantized model' "d['operators']['CONV2D_FUSION'] == 3 and d['operators']['QUANT_DTYPE_CAST'] == 2 and d['weights']['int8']['count'] > 18000 and d['weights']['float32']['count'] == 9 * 12 + 12"
t 0 'quantize again' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8b.nnrt" --json --processor vnni
py 'quantize --json: times' "d['float32'] == {'faster': 1, 'accuracy': 0} and 0 < d['time']['predicted'] < 1 and abs(d['time']['ratio'] - d['time']['int8_ms'] / d['time']['float32_ms']) < 0.01 * d['time']['ratio']"
same 'quantize: the measured time decides bytes' "$folder/q8.nnrt" "$folder/q8b.nnrt"
t 0 'quantize --processor avx2' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8a.nnrt" --processor avx2
prints 'quantize --processor avx2: nodes' '^nodes +0 of 10 quantized, 0 with weights$'
says 'quantize --processor avx2: the reason' 'q8a.nnrt stays float32: all operators in 8 bits take [0-9.]+ of its time on this processor, by prediction; --full-integer'
t 0 'info of a model that stays float32' info "$folder/q8a.nnrt" --json
py 'info of a model that stays float32' "list(d['weights']) == ['float32'] and 'QUANT_DTYPE_CAST' not in d['operators']"
t 0 'quantize --processor avx2 --json' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8a.nnrt" --processor avx2 --json
py 'quantize --processor avx2 --json' "d['quantized'] == 0 and d['outputs'] == [] and d['file'] == F + 'q8a.nnrt'"
t 0 'quantize --processor avx2 --full-integer' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q7.nnrt" --processor avx2 --full-integer
prints 'quantize --processor avx2 --full-integer: weights' '^processor +avx2, weights of 7 bits$'
prints 'quantize --processor avx2 --full-integer: agreement' '^output +probabilities  [2-9][0-9]\.[0-9] dB, the same largest element in 10 of 10 samples$'
t 0 'quantize --processor avx2 --full-integer --json' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q7.nnrt" --processor avx2 --full-integer --json
py 'quantize --processor avx2 --full-integer --json' "d['processor'] == 'avx2' and d['weight_bits'] == 7"
refused 2 'quantize --processor avx' "--processor does not take 'avx'" quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8a.nnrt" --processor avx
t 0 'quantize --full-integer' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --full-integer --device reference
prints 'quantize --full-integer' '^nodes +10 of 10 quantized, 5 with weights$'
prints 'quantize --full-integer: predicted' '^time +[0-9.]+ of float32, predicted for the device cpu$'
lacks 'quantize --full-integer: a float32 node' '^float32'
lacks 'quantize --full-integer: a processor' '^processor'
t 0 'info of --full-integer' info "$folder/q8.nnrt" --json
py 'info of --full-integer' "d['operators']['CONV2D_FUSION'] == 3 and d['operators']['QUANT_DTYPE_CAST'] == 2 and 'float32' not in d['weights']"
t 0 'run of a quantized model' run "$folder/q8.nnrt" --input $digits/digit_7.png --top 1
prints 'run of a quantized model' '^  7 '
t 0 'quantize --json --int8-io' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --json --int8-io --samples 3 --without equalize,bias
prints 'quantize --json' '"samples":3,"nodes":10,"quantized":10,"equalized":0,"corrected":0,"rounded":0,"outputs":\[[{]"name":"probabilities","sqnr":'
py 'quantize --json: one line' "d['file'] == F + 'q8.nnrt' and d['bytes'] == os.path.getsize(d['file'])"
t 0 'info of --int8-io' info "$folder/q8.nnrt" --json
py 'info of --int8-io' "d['inputs'][0]['type'] == 'int8' and d['metadata']['input.image.quantize'] == 'yes'"
# A layer with weights of a huge range stays float32, unless --full-integer: at most a hundredth of the noise, judged in numpy.
program=$plain
t 0 'quantize: a sensitive layer' quantize "$folder/sensitive.onnx" --data "$folder/sensitive_x.npy" -o "$folder/spared.nnrt" --processor vnni
prints 'quantize: a sensitive layer: the others are in 8 bits' '^nodes +4 of 5 quantized, 3 with weights$'
prints 'quantize: a sensitive layer: it is spared' '^float32 +accuracy +CONV2D_FUSION:d:f$'
prints 'quantize: a sensitive layer: the time' 'predicted 0[.][0-9]+$'
t 0 'quantize --full-integer: a sensitive layer' quantize "$folder/sensitive.onnx" --data "$folder/sensitive_x.npy" -o "$folder/spoilt.nnrt" --full-integer --device reference
prints 'quantize --full-integer: all layers' '^nodes +5 of 5 quantized, 4 with weights$'
lacks 'quantize --full-integer: a spared layer' '^float32'
for m in spared spoilt; do
    for s in 0 1 2 3; do t 0 "run of the $m model, sample $s" run "$folder/$m.nnrt" --input "$folder/sensitive_$s.npy" --output-dir "$folder/${m}_$s"; done
done
py 'quantize: the noise of a sensitive layer' "(lambda y: (lambda noise: noise('spared') < 1e-3 and noise('spoilt') > 100 * noise('spared'))(lambda m: sum(((np.load(F + '%s_%d/y.npy' % (m, s))[0] - y[s]) ** 2).sum() for s in range(4)) / (y ** 2).sum()))(np.load(F + 'sensitive_y.npy'))"
program=$sanitized

printf 'SOFTMAX\n' >"$folder/keep.txt"
t 0 'quantize --ranges --keep' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --ranges --keep "$folder/keep.txt" --uint8 --full-integer
prints 'quantize --keep' '^nodes +9 of 10 quantized'
prints 'quantize --ranges' '^range +image  0 to 1, codes 0 to 1 [(](min-max|percentile|least squares)[)], scale 0.00392'
py 'samples as rows' "np.save(F + 'rows.npy', np.random.default_rng(1).random((5, 1, 28, 28), np.float32)) is None"
program=$plain
t 0 'quantize, rows of a file' quantize $digits/digits.onnx --data "$folder/rows.npy" -o "$folder/q8.nnrt" --processor vnni
prints 'quantize, rows of a file' '^samples +5$'
py 'samples in Fortran order, of float64' "np.save(F + 'rowsf.npy', np.asfortranarray(np.load(F + 'rows.npy'))) or np.save(F + 'rowsd.npy', np.load(F + 'rows.npy').astype('>f8')) is None"
t 0 'quantize, rows in Fortran order' quantize $digits/digits.onnx --data "$folder/rowsf.npy" -o "$folder/qf8.nnrt" --processor vnni
same 'quantize: rows in Fortran order give another model' "$folder/q8.nnrt" "$folder/qf8.nnrt"
t 0 'quantize, rows of float64' quantize $digits/digits.onnx --data "$folder/rowsd.npy" -o "$folder/qf8.nnrt" --processor vnni
[ "$(grep -c 'holds float64, converted to the float32 of input' "$folder/err")" -eq 1 ]
verdict 'quantize: one note about float64' $?
same 'quantize: rows of big-endian float64 give another model' "$folder/q8.nnrt" "$folder/qf8.nnrt"
program=$sanitized
t 0 'quantize --least-squares --held-out' quantize $digits/digits.onnx --data "$folder/rows.npy" -o "$folder/q8.nnrt" --least-squares --held-out "$folder/q" --processor vnni
prints 'quantize --least-squares' '^rounded +4 of 4 weight tensors by least squares$'
prints 'quantize: ranges' '^ranges +[0-9]+ min-max, [0-9]+ percentile, [0-9]+ least squares, 1 by operator$'
prints 'quantize --held-out: the calibration' '^samples +5$'
prints 'quantize --held-out' '^output +probabilities .* in [0-9]+ of 10 samples$'
refused 1 'quantize --held-out, an empty folder' 'q0 has no samples: expected .npy' quantize $digits/digits.onnx --data "$folder/q" --held-out "$folder/q0" -o "$folder/q8.nnrt"
t 0 'quantize: a float16 model' quantize "$folder/half.onnx" --data "$folder/half.npy" -o "$folder/qh.nnrt" --processor vnni
says 'quantize: a float16 model: the note' '^nnrt: note: .*half.onnx has float16 tensors, which become float32 first'
prints 'quantize: a float16 model: nodes' '^nodes +1 of 1 quantized, 1 with weights$'
prints 'quantize: a float16 model: agreement' '^output +y  [3-9][0-9]\.[0-9] dB'
t 0 'quantize: a float16 model: its types' info "$folder/qh.nnrt"
prints 'quantize: a float16 model: its types' '^input +x  float32\[1,8\]$'
t 0 'quantize --weights-only: a float16 model' quantize "$folder/half.onnx" --weights-only 8 -o "$folder/qh.nnrt"
refused 1 'quantize: a float16 model, an ONNX file' 'the model is float16; write a .nnrt file' quantize "$folder/half.onnx" --data "$folder/half.npy" -o "$folder/qh.onnx"
refused 1 'quantize: a missing folder' 'cannot write .*/none/q8.nnrt: No such file' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/none/q8.nnrt"
echo x >"$folder/bad.npy"
refused 1 'quantize: no .npy file' 'bad.npy: it does not begin as a .npy file' quantize $digits/digits.onnx --data "$folder/bad.npy" -o "$folder/qb.nnrt"
program=$plain
t 0 'quantize --device reference' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/qr.nnrt" --device reference
t 0 'quantize --exact' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/qe.nnrt" --exact --threads 2
same 'quantize --exact: other bytes than those of the reference device' "$folder/qe.nnrt" "$folder/qr.nnrt"
program=$sanitized
for m in slope twins faint; do # a constant, or weights, of two nodes; a bias of 10^38 units of its scale
    for form in nnrt onnx; do
        t 0 "quantize: $m.$form" quantize "$folder/$m.onnx" --data "$folder/eights.npy" -o "$folder/shared.$form" --processor vnni
        prints "quantize: $m.$form" '^output +y  [3-9][0-9]\.[0-9] dB'
        t 0 "quantize: $m.$form runs" run "$folder/shared.$form" --input random
    done
done
t 0 'quantize --16x8' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q16.nnrt" --16x8
prints 'quantize --16x8: nodes' '^nodes +[6-8] of 10 quantized, 5 with weights$'
prints 'quantize --16x8: agreement' '^output +probabilities  [4-9][0-9]\.[0-9] dB, the same largest element in 10 of 10 samples$'
t 0 'run of --16x8' run "$folder/q16.nnrt" --input $digits/digit_7.png --top 1
prints 'run of --16x8' '^  7 '
for with in --uint8 --int8-io; do
    refused 2 "quantize --16x8 $with" '--16x8 writes a .nnrt file, and goes neither with --uint8 nor with --int8-io' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q16.nnrt" --16x8 $with
done
refused 2 'quantize --16x8, an ONNX file' '--16x8 writes a .nnrt file' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q16.onnx" --16x8
for b in 4 8; do
    t 0 "quantize --weights-only $b" quantize $digits/digits.onnx --weights-only $b -o "$folder/w$b.nnrt"
    prints "quantize --weights-only $b" '^nodes +weights of 2 of 10 quantized$'
    prints "quantize --weights-only $b: bytes" '^weights +[0-9]+ bytes were [0-9]+$'
    t 0 "run of --weights-only $b" run "$folder/w$b.nnrt" --input $digits/digit_7.png --top 1
    prints "run of --weights-only $b" '^  7 '
done
t 0 'quantize --weights-only --block --json' quantize $digits/digits.onnx --weights-only 4 --block 128 -o "$folder/w128.nnrt" --json
prints 'quantize --weights-only --json' '"nodes":10,"quantized":2,"weights":[[][0-9]+,[0-9]+[]]'
py 'quantize --weights-only --json: one line' "d['file'] == F + 'w128.nnrt' and d['bytes'] == os.path.getsize(d['file'])"
[ "$(wc -c <"$folder/w4.nnrt")" -lt "$(wc -c <"$folder/w8.nnrt")" ]
verdict 'quantize --weights-only: sizes' $?
refused 2 'quantize --weights-only 5' "--weights-only does not take '5'" quantize $digits/digits.onnx --weights-only 5 -o "$folder/w.nnrt"
refused 2 'quantize --block 24' "--block does not take '24'" quantize $digits/digits.onnx --weights-only 4 --block 24 -o "$folder/w.nnrt"
refused 2 'quantize --block alone' '--block is for --weights-only' quantize $digits/digits.onnx --data "$folder/q" --block 32 -o "$folder/w.nnrt"
refused 2 'quantize --weights-only --data' '--weights-only needs no samples' quantize $digits/digits.onnx --data "$folder/q" --weights-only 4 -o "$folder/w.nnrt"
refused 1 'quantize --weights-only to ONNX' '--weights-only writes .nnrt files' quantize $digits/digits.onnx --weights-only 4 -o "$folder/w.onnx"
t 0 'quantize --dynamic' quantize $digits/digits.onnx --dynamic -o "$folder/dynamic.nnrt"
prints 'quantize --dynamic' '^nodes +weights of 2 of 10 quantized$'
t 0 'run of --dynamic' run "$folder/dynamic.nnrt" --input $digits/digit_7.png --top 1
prints 'run of --dynamic' '^  7 '
refused 2 'quantize --dynamic --data' '--dynamic needs no samples, and takes only --keep;' quantize $digits/digits.onnx --data "$folder/q" --dynamic -o "$folder/w.nnrt"
refused 2 'quantize --dynamic --weights-only' '--weights-only and --dynamic exclude each other' quantize $digits/digits.onnx --weights-only 8 --dynamic -o "$folder/w.nnrt"
refused 1 'quantize --dynamic to ONNX' '--dynamic writes .nnrt files' quantize $digits/digits.onnx --dynamic -o "$folder/w.onnx"
printf 'FULL_CONNECTION\n' >"$folder/keep_full.txt"
refused 1 'quantize --weights-only --keep' 'none is a matrix product with constant weights that is not kept in float32' quantize $digits/digits.onnx --weights-only 4 --keep "$folder/keep_full.txt" -o "$folder/w.nnrt"
absent 'quantize --weights-only: a file was written' "$folder"/w.*
py 'bad samples' "np.save(F + 'q2/a.npy', np.zeros((1, 1, 28, 27), np.float32)) is None and np.save(F + 'nan.npy', np.full((1, 1, 28, 28), np.nan, np.float32)) is None"
rm -f "$folder/q8.nnrt"
refused 2 'quantize without samples' 'quantize: --data is missing: the samples of the input' quantize $digits/digits.onnx -o "$folder/q8.nnrt"
refused 2 'quantize without a file' 'quantize: the output file is missing' quantize $digits/digits.onnx --data "$folder/q"
refused 2 'quantize without an unknown step' "--without does not take 'range'" quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --without range
refused 1 'quantize, an empty folder' 'q0 has no samples: expected .npy, .csv, .pb, .png, .jpg or .wav files' quantize $digits/digits.onnx --data "$folder/q0" -o "$folder/q8.nnrt"
refused 1 'quantize, no folder' 'cannot open .*nothing: ' quantize $digits/digits.onnx --data "$folder/nothing" -o "$folder/q8.nnrt"
refused 1 'quantize, another shape' 'a.npy is float32\[1,1,28,27\], input .image. takes float32\[1,1,28,28\]' quantize $digits/digits.onnx --data "$folder/q2" -o "$folder/q8.nnrt"
refused 1 'quantize, NaN' "cannot quantize .*: input 'image' of sample 0 has NaN or infinity" quantize $digits/digits.onnx --data "$folder/nan.npy" -o "$folder/q8.nnrt" --full-integer
refused 1 'quantize twice' 'is quantized already: quantize the float32 model' quantize $digits/digits_int8.onnx --data "$folder/q" -o "$folder/q8.nnrt"
absent 'quantize: a file was written' "$folder/q8.nnrt"

program=$plain # these quantize each node by itself, for ten seconds with sanitizers; signs.onnx has one node
t 0 'quantize --sensitivity' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --sensitivity --processor vnni
prints 'quantize --sensitivity: the noisiest node' '^quantized  [0-9.]+ dB  SOFTMAX:fc2:probabilities$'
prints 'quantize --sensitivity: all others quantized' '^nodes +9 of 10 quantized'
prints 'quantize --sensitivity: the one in float32' '^float32    [0-9.]+ dB  CONV2D_FUSION:image:relu1$'
[ "$(grep -c '^quantized ' "$folder/out")" -eq 9 ]
verdict 'quantize --sensitivity: not nine nodes' $?
t 0 'quantize --max-loss' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --max-loss 0.00001
prints 'quantize --max-loss: a node stays float32' '^float32    [0-9.]+ dB  SOFTMAX:fc2:probabilities$'
prints 'quantize --max-loss: others do not' '^nodes +[1-9] of 10 quantized'
prints 'quantize --max-loss: the noise' '^output +probabilities  ([5-9][0-9]|1[0-9][0-9])\.[0-9] dB'
rm -f "$folder/q8.nnrt"
refused 2 'quantize --max-loss 0' "--max-loss does not take '0'" quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --max-loss 0
refused 1 'quantize --max-loss, too little' 'no node of .*digits.onnx can be quantized with a noise of at most that' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --max-loss 1e-13 --json
absent 'quantize --max-loss: a file was written' "$folder/q8.nnrt"

# --classes: the loss is accuracy. Of two samples [1, 1.001] and [100, 0] 8 bits of one scale lose the class of the
# first.
for i in 0 1 2 3 4 5 6 7 8 9; do echo "digit_$i.png $i"; done >"$folder/classes.txt"
t 0 'quantize --classes' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --max-loss 0.000008 --classes "$folder/classes.txt"
prints 'quantize --classes: all nodes' '^nodes +10 of 10 quantized'
prints 'quantize --classes: accuracy' '^top 1 +100.00 % float32, 100.00 % 8 bits$'
program=$sanitized
py 'quantize --classes: a hard sample' "np.save(F + 'hard.npy', np.array([[1, 1.001], [100, 0]], np.float32)) is None and np.save(F + 'rows2.npy', np.array([[100, 0], [99, 1], [50, 0]], np.float32)) is None"
printf '1\n0\n' >"$folder/hard.txt"
printf '2\n0\n' >"$folder/two.txt"
t 0 'quantize --classes: half is lost' quantize "$folder/signs.onnx" --data "$folder/hard.npy" -o "$folder/q8.nnrt" --max-loss 0.5 --classes "$folder/hard.txt" --report "$folder/q.html"
prints 'quantize --classes: half is lost' '^top 1 +100.00 % float32, 50.00 % 8 bits$'
py 'quantize --classes: the report' '{"100.00 %", "50.00 %"} <= set(page("q.html").words["summary"])'
t 0 'quantize --classes --json' quantize "$folder/signs.onnx" --data "$folder/hard.npy" -o "$folder/q8.nnrt" --classes "$folder/hard.txt" --json --processor vnni
prints 'quantize --classes --json' '\],"top1":\[2,1\],"float32":[{]'
t 0 'quantize --classes of held-out samples' quantize "$folder/signs.onnx" --data "$folder/rows2.npy" --held-out "$folder/hard.npy" -o "$folder/q8.nnrt" --classes "$folder/hard.txt" --report "$folder/q.html" --processor vnni
prints 'quantize --classes of held-out samples' '^top 1 +100.00 % float32, 50.00 % 8 bits$'
py 'quantize --classes of held-out samples: the report' '"3, compared with float32 on 2" in page("q.html").words["summary"] and "in 1 of 2 samples" in page("q.html").words["outputs"]'
rm -f "$folder/q8.nnrt"
refused 2 'quantize --weights-only --report' '--weights-only needs no samples, and takes only' quantize $digits/digits.onnx --weights-only 8 -o "$folder/q8.nnrt" --report "$folder/q.html"
refused 1 'quantize --classes, too much is lost' 'no node of .*signs.onnx can be quantized with a loss of accuracy of at most that' quantize "$folder/signs.onnx" --data "$folder/hard.npy" -o "$folder/q8.nnrt" --max-loss 0.49 --classes "$folder/hard.txt" --json
refused 1 'quantize --classes, too few' 'hard.txt has no class from 0 to 9 for sample 2' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --classes "$folder/hard.txt" --processor vnni
refused 1 'quantize --classes, no such class' "line 1 has class '2', expected 0 to 1 or a label of the model" quantize "$folder/signs.onnx" --data "$folder/hard.npy" -o "$folder/q8.nnrt" --classes "$folder/two.txt" --processor vnni
absent 'quantize --classes: a file was written' "$folder/q8.nnrt"

# --report: the page has each tensor and layer, the sizes that nnrt info prints, no part in another file, and escapes
# names
program=$plain
t 0 'quantize --report' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --report "$folder/q.html" --sensitivity --without bias --full-integer
prints 'quantize --report' '^report +.*/q.html$'
calm 'quantize --report'
py 'quantize --report: bytes and instructions of both models' 'all(any(w.startswith(n) for w in page("q.html").words["summary"]) for n in ("file", "constants (flash", "arena (RAM)", "instructions of a run on a Cortex-M4"))'
t 0 'quantize --report: the tensors' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --ranges --without bias --full-integer
grep '^range ' "$folder/out" >"$folder/ranges"
py 'quantize --report: tensors' '(lambda r: page("q.html").rows["ranges"] == 1 + len(r) == 12 and {l.split()[1] for l in r} <= set(page("q.html").words["ranges"]))(open(F + "ranges").readlines())'
py 'quantize --report: scales' 'all(re.search("zero point ([-0-9]+)", l).group(1) in page("q.html").words["ranges"] and "%.6g" % float(re.search("scale ([^,]+)", l).group(1)) in page("q.html").words["ranges"] for l in open(F + "ranges"))'
py 'quantize --report: the noisiest first' '(lambda r: r == sorted(r) and len(r) == 11)([float(x) for x in re.findall("<tr><td class=.l.>[^<]*<td>([0-9.]+)<td>", open(F + "q.html").read().split("Activations")[1])])'
py 'quantize --report: the choice of each range' '(lambda w: w.count("operator") == 1 and sum(w.count(m) for m in ("min-max", "percentile", "least squares")) == 10)(page("q.html").words["ranges"])'
py 'quantize --report: histograms' 'open(F + "q.html").read().count("<svg class=") == 11 and "0 to 1" in page("q.html").titles'
py 'quantize --report: layers' 'page("q.html").rows["layers"] == 1 + 5 and {"conv1", "108", "12", "fc2", "320"} <= set(page("q.html").words["layers"])'
py 'quantize --report: sensitivity' 'page("q.html").rows["nodes"] == 1 + 10 and page("q.html").words["nodes"].count("8 bits") == 10'
py 'quantize --report: options' 'any("without bias" in w for w in page("q.html").words["summary"]) and "10 of 10 quantized, 5 with weights" in page("q.html").words["summary"]'
py 'quantize --report: times' 'any(w.startswith("time of a run here") for w in page("q.html").words["summary"]) and "0 are faster so, 0 for accuracy" in page("q.html").words["summary"]'
py 'quantize --report: files' '{str(os.path.getsize(p)) for p in ("examples/digits/digits.onnx", F + "q8.nnrt")} <= set(page("q.html").words["summary"])'
py 'quantize --report: one page' 'not page("q.html").tags & {"script", "link", "img", "iframe"} and "://" not in open(F + "q.html").read()'
for f in $digits/digits.onnx "$folder/q8.nnrt"; do
    t 0 "quantize --report: the arena of $f" info "$f" --device reference --json
    py "quantize --report: the arena of $f" "str(d['arena_bytes']) in page('q.html').words['summary']"
done
program=$sanitized
printf 'SOFTMAX\n' >"$folder/<i>.txt"
t 0 'quantize --report: signs' quantize "$folder/signs.onnx" --data "$folder/one2.npy" -o "$folder/q8.nnrt" --report "$folder/q.html" --keep "$folder/<i>.txt" --processor vnni
py 'quantize --report: signs' 'not page("q.html").tags & {"b", "y", "i"} and {"<b>&\x27", "\"<y>\""} <= set("".join(page("q.html").words["ranges"]).split("\n") + page("q.html").words["ranges"])'
rm -f "$folder/q8.nnrt" "$folder/q.html"
refused 2 'quantize --report to the model' '--report .*q8.nnrt: expected a file beside the model' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --report "$folder/q8.nnrt"
refused 1 'quantize --report to a folder' '/q: it is no regular file and is not replaced' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --report "$folder/q"
ln -s q8.nnrt "$folder/linked.html"
t 1 'quantize --report to the model by a link' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --report "$folder/linked.html" --processor vnni
says 'quantize --report to the model by a link' 'linked.html: it is a link to a file that does not exist|linked.html: it is read by this command'
rm -f "$folder/q8.nnrt"
refused 1 'quantize --report, NaN' 'has NaN or infinity' quantize $digits/digits.onnx --data "$folder/nan.npy" -o "$folder/q8.nnrt" --report "$folder/q.html" --processor vnni
absent 'quantize --report: a file was written' "$folder/q8.nnrt" "$folder/q.html" "$folder"/*.tmp

# ---- sounds ----

mkdir "$folder/sounds" && cp "$folder/a.wav" "$folder/b.wav" "$folder/sounds"
t 0 'quantize with sounds' quantize "$folder/sound1.onnx" --data "$folder/sounds" -o "$folder/q8.nnrt" --ranges --processor vnni
prints 'quantize with sounds: samples' '^samples +2$'
prints 'quantize with sounds: range' '^range +x  -1 to 0.999969,'
printf '3\n3\n' >"$folder/sounds.txt"
t 0 'accuracy with sounds' accuracy "$folder/sound1.onnx" "$folder/q8.nnrt" --data "$folder/sounds" --labels "$folder/sounds.txt"
prints 'accuracy with sounds' '^agree +2 of 2$'

# as ONNX: the imported file gives the bits of the .nnrt file
t 0 'quantize to ONNX' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.onnx"
prints 'quantize to ONNX' '^.*/q8.onnx  [0-9]+ bytes$'
program=$plain
t 0 'quantize, for comparison' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.nnrt" --full-integer
for f in onnx nnrt; do
    t 0 "run of the .$f file" run "$folder/q8.$f" --input $digits/digit_3.png --device reference --output-dir "$folder/q_$f"
done
same 'quantize to ONNX: other bits' "$folder/q_onnx/probabilities.npy" "$folder/q_nnrt/probabilities.npy"
t 0 'info of the ONNX file' info "$folder/q8.onnx" --json
py 'info of the ONNX file' "d['operators']['CONV2D_FUSION'] == 3 and 'float32' not in d['weights']"
program=$sanitized
t 0 'info of the ONNX file, not optimized' convert "$folder/q8.onnx" "$folder/plain.nnrt" --no-optimize
rm -f "$folder/q8.onnx"
t 0 'quantize to ONNX with uint8, one scale for each weight tensor, and a node in float32' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.onnx" --uint8 --without channels,bias --keep "$folder/keep.txt"
prints 'quantize to ONNX with options' '^nodes +9 of 10'
rm -f "$folder/q8.onnx"
refused 1 'quantize a .nnrt file to ONNX' 'an ONNX file is made of an ONNX file; write a .nnrt file' quantize "$folder/plain.nnrt" --data "$folder/q" -o "$folder/q8.onnx"
program=$plain
t 0 'quantize to ONNX with 8-bit inputs and outputs' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.onnx" --int8-io
calm 'quantize to ONNX with 8-bit inputs and outputs'
t 0 'info of the ONNX file with 8-bit inputs and outputs' info "$folder/q8.onnx" --json
py 'info of the ONNX file with 8-bit inputs and outputs' "d['inputs'][0]['type'] == d['outputs'][0]['type'] == 'int8' and d['metadata']['input.image.quantize'] == 'yes' and d['operators']['SOFTMAX'] == 1 and len(d['operators']) == 5"
t 0 'run of the ONNX file with 8-bit inputs, .png' run "$folder/q8.onnx" --input $digits/digit_3.png --device reference --output-dir "$folder/q_png"
py 'the bits of float32 inputs and outputs' "(np.load(F + 'q_png/probabilities.npy').astype(np.float32) + 128).tobytes() == (np.load(F + 'q_onnx/probabilities.npy') * 256).tobytes()"
py 'a real image' "np.save(F + 'real.npy', np.linspace(0, 1, 784, dtype=np.float32).reshape(1, 1, 28, 28)) is None and np.save(F + 'codes.npy', (np.rint(np.load(F + 'real.npy') * np.float32(255)) - 128).astype(np.int8)) is None"
for f in real codes; do t 0 "run of the ONNX file with 8-bit inputs, $f" run "$folder/q8.onnx" --input "$folder/$f.npy" --output-dir "$folder/q_$f"; done
same 'quantize --int8-io: real values are not quantized' "$folder/q_real/probabilities.npy" "$folder/q_codes/probabilities.npy"
rm -f "$folder/q8.onnx"
printf 'CONV2D_FUSION\nSOFTMAX\nMAX_POOL_FUSION\n' >"$folder/ends.txt"
t 0 'quantize to ONNX, float32 at the ends' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.onnx" --int8-io --uint8 --keep "$folder/keep.txt"
says 'an output stays float32' "note: --int8-io: output 'probabilities' stays float32: no quantized operator writes it"
rm -f "$folder/q8.onnx"
program=$sanitized
t 1 'quantize to ONNX, no 8-bit inputs' quantize $digits/digits.onnx --data "$folder/q" -o "$folder/q8.onnx" --int8-io --keep "$folder/ends.txt"
says 'quantize to ONNX, no 8-bit inputs' '^nnrt: --int8-io: all inputs and outputs of .* stay float32$'
for s in 7 9 10 11 12; do # raised to operator set 13, which the library checks by running the file, and onnx by its definitions
    [ $s = 11 ] && open='--shape x=1,3,8,8' || open=
    t 0 "quantize operator set $s to ONNX" quantize "$folder/old$s.onnx" --data "$folder/eights.npy" -o "$folder/q8.onnx" $open
    prints "quantize operator set $s to ONNX: as exact" '^output +y +[2-9][0-9]\.[0-9] dB'
    "$python" -c 'import onnx, sys
m = onnx.load(sys.argv[1])
onnx.checker.check_model(m, True)
sys.exit(m.opset_import[0].version != 13 or len(m.graph.input) != 1 or m.ir_version < 7)' "$folder/q8.onnx" 2>"$folder/err"
    verdict "quantize operator set $s to ONNX: operator set 13, by the package onnx" $?
    rm -f "$folder/q8.onnx"
done
t 1 'quantize operator set 6 to ONNX' quantize "$folder/old6.onnx" --data "$folder/eights.npy" -o "$folder/q8.onnx"
says 'quantize operator set 6 to ONNX' 'its operator set is below 7, whose operators broadcast in another way; write a .nnrt file'
absent 'quantize to ONNX: a file was written' "$folder/q8.onnx"

total
