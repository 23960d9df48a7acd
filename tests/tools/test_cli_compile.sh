#!/bin/sh
# test_cli_compile.sh: nnrt compile, and --cache. Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models sets

# ---- compile ----

keeps=fake:name=npu0,cache=yes
t 0 'what a cache must give' run $digits/digits.onnx --input $digits/digit_7.png --output-dir "$folder/cache_want"
t 0 'compile' compile $digits/digits.onnx --device $keeps -o "$folder/compiled.nnrt" --json
py 'compile --json' 'd["file"].endswith("compiled.nnrt") and d["bytes"] == os.path.getsize(F + "compiled.nnrt")'
silent 'compile'
t 0 'info of a compiled file' info "$folder/compiled.nnrt" --json
py 'info names the section' '[(s["kind"], s["name"]) for s in d["sections"] if s["type"] == 9] == [("device", "npu0_nnrt_v1_0")]'
t 0 'info of a compiled file' info "$folder/compiled.nnrt"
prints 'info names the section' '^            device  .* at [0-9]+  npu0_nnrt_v1_0$'
for device in $keeps,fail=PrepareModel reference fake: fake:name=npu0,vendor=else,cache=yes fake:name=npu0,cache=refuse; do
    t 0 "a compiled file on $device" run "$folder/compiled.nnrt" --input $digits/digit_7.png --device $device --output-dir "$folder/cache_got"
    same "a compiled file on $device: other results" "$folder/cache_got/probabilities.npy" "$folder/cache_want/probabilities.npy"
done
t 0 'compile for parts' compile $digits/digits.onnx --device fake:name=npu0,ops=CONV2D_FUSION,cache=yes --device fake:name=npu1,ops=SOFTMAX,cache=yes --device auto:npu0,npu1 -o "$folder/parts.nnrt"
t 0 'parts' run "$folder/parts.nnrt" --input $digits/digit_7.png --device fake:name=npu0,ops=CONV2D_FUSION,cache=yes,fail=PrepareModel --device fake:name=npu1,ops=SOFTMAX,cache=yes,fail=PrepareModel --device auto:npu0,npu1 --log warning --output-dir "$folder/cache_got"
silent 'parts: all are taken from the file'
same 'parts: other results' "$folder/cache_got/probabilities.npy" "$folder/cache_want/probabilities.npy"
t 0 'compile with one part' compile $digits/digits.onnx --device fake:name=npu0,ops=CONV2D_FUSION,cache=yes --device fake:name=npu1,ops=SOFTMAX,cache=count --device auto:npu0,npu1 -o "$folder/part.nnrt"
says 'compile with one part' 'note: 1 of [0-9]+ partitions are not in the file'
t 0 'a .nnrt file with open extents' convert "$folder/open.onnx" "$folder/open.nnrt"
t 0 'compile a .nnrt file with open extents' compile "$folder/open.nnrt" --shape 2,3 --device $keeps -o "$folder/opened.nnrt"
t 0 'run it with those' run "$folder/opened.nnrt" --shape 2,3 --input random --device $keeps,fail=PrepareModel
t 0 'run it with others' run "$folder/opened.nnrt" --shape 4,3 --input random --device $keeps
refused 1 'compile on a device without a cache' "device 'reference_nnrt_v2_0' has no model cache; nnrt convert writes" compile $digits/digits.onnx --device reference -o "$folder/x.nnrt"
t 0 'compile for cpu' compile $digits/digits.onnx --device cpu -o "$folder/packed.nnrt"
t 0 'info of packed weights' info "$folder/packed.nnrt"
prints 'info of packed weights' '^            device  .* at [0-9]+  cpu_nnrt_v1_0$'
t 0 'a file with packed weights' run "$folder/packed.nnrt" --input $digits/digit_7.png --device cpu --output-dir "$folder/cache_packed"
t 0 'a file without' run $digits/digits.onnx --input $digits/digit_7.png --device cpu --output-dir "$folder/cache_plain"
same 'packed weights: other results' "$folder/cache_packed/probabilities.npy" "$folder/cache_plain/probabilities.npy"
refused 1 'compile on a device that gives nothing' "device 'npu0_nnrt_v1_0' has nothing to store in it" compile $digits/digits.onnx --device fake:name=npu0,cache=count -o "$folder/x.nnrt"
refused 1 'compile to standard output' 'cannot be written to standard output' compile $digits/digits.onnx --device $keeps -o -
refused 2 'compile to nowhere' 'the output file is missing' compile $digits/digits.onnx --device $keeps
absent 'refused compile: a file was written' "$folder/x.nnrt"

# ---- --cache ----

mkdir "$folder/cache"
t 0 'run --cache' run $digits/digits.onnx --input $digits/digit_7.png --device $keeps --cache "$folder/cache" --json
py 'run --cache: nothing was there' 'd["cache"] == {"restored": 0, "prepared": 1}'
silent 'run --cache'
for command in run bench; do
    t 0 "$command --cache" $command $digits/digits.onnx $([ $command = bench ] && echo --reps 1 || echo --input random) --device $keeps,fail=PrepareModel --cache "$folder/cache" --json
    py "$command --cache: it is taken" 'd["cache"] == {"restored": 1, "prepared": 0}'
done
t 0 'run --cache, without --json' run $digits/digits.onnx --input $digits/digit_7.png --device $keeps,fail=PrepareModel --cache "$folder/cache" --output-dir "$folder/cache_got"
same 'run --cache: other results' "$folder/cache_got/probabilities.npy" "$folder/cache_want/probabilities.npy"
py 'one file' 'len(os.listdir(F + "cache")) == 1'
for i in 1 2; do t 0 'check --cache' check "$folder/open.onnx" --data "$folder/good" --device $keeps --cache "$folder/cache"; done
py 'a file for each model' 'len(os.listdir(F + "cache")) > 1'
py 'a cache to cut' '[open(F + "cache/" + f, "r+b").truncate(100) for f in os.listdir(F + "cache")]'
t 0 'run --cache that is cut short' run $digits/digits.onnx --input $digits/digit_7.png --device $keeps --cache "$folder/cache"
says 'run --cache that is cut short' '^nnrt: note: --cache .*is cut short'
t 0 'run --cache, written anew' run $digits/digits.onnx --input $digits/digit_7.png --device $keeps,fail=PrepareModel --cache "$folder/cache"
silent 'run --cache, written anew'
t 0 'run --cache without a folder' run $digits/digits.onnx --input $digits/digit_7.png --device $keeps --cache "$folder/nowhere"
says 'run --cache without a folder' '^nnrt: note: --cache .*nowhere: cannot write .*/nowhere/.*: No such file or directory$'
t 0 'run --cache on a device without one' run $digits/digits.onnx --input $digits/digit_7.png --device reference --cache "$folder/cache"
says 'run --cache on a device without one' '^nnrt: note: --cache .*no device that runs a partition of this model has a model cache$'
t 0 'run --cache on a device that gives nothing' run $digits/digits.onnx --input $digits/digit_7.png --device fake:name=npu2,cache=count --cache "$folder/cache"
says 'run --cache on a device that gives nothing' '^nnrt: note: --cache .*the device has nothing to store in it$'
mkdir "$folder/cpu_cache"
for packed in 1,0 0,1; do
    t 0 'run --cache on cpu' run $digits/digits.onnx --input $digits/digit_7.png --device cpu --cache "$folder/cpu_cache" --json
    py "run --cache on cpu: prepared and restored are $packed" "[d['cache']['prepared'], d['cache']['restored']] == [$packed]"
    silent 'run --cache on cpu'
done
t 0 'run --cache on cpu, the results' run $digits/digits.onnx --input $digits/digit_7.png --device cpu --cache "$folder/cpu_cache" --output-dir "$folder/cache_got"
same 'run --cache on cpu: other results' "$folder/cache_got/probabilities.npy" "$folder/cache_plain/probabilities.npy"
refused 2 'run --cache without a value' 'lacks its value DIR' run $digits/digits.onnx --cache
refused 1 'info of a cache' 'it is a cache' info "$(ls -dS "$folder"/cache/* | head -n 1)"

total
