#!/bin/sh
# test_cli_info.sh: nnrt info, dot and report. Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models large imports

# ---- info ----

t 0 'info' info $digits/digits.onnx
prints 'info: input' '^input +image  float32\[1,1,28,28\]'
prints 'info: output' '^output +probabilities  float32\[1,10\]'
prints 'info: operators' ' 3  MAX_POOL_FUSION$'
prints 'info: arena' '^arena +[0-9]+ bytes, lower bound [0-9]+$'
silent 'info'
mkfifo "$folder/pipe"
cat $digits/digits.onnx >"$folder/pipe" &
t 0 'info of a pipe' info "$folder/pipe"
prints 'info of a pipe' '^arena +[0-9]+ bytes'
t 0 'info --json' info $digits/digits.onnx --json
py 'info --json: inputs and outputs' 'd["inputs"][0]["shape"] == [1, 1, 28, 28] and d["outputs"][0]["name"] == "probabilities" and d["outputs"][0]["type"] == "float32"'
py 'info --json: operators add up' 'sum(d["operators"].values()) == d["nodes"] and d["operators"]["MAX_POOL_FUSION"] == 3'
# 19,258 floats: the network's weights and biases, normalization folded into them
py 'info --json: memory' '19258 * 4 <= d["weight_bytes"] < 80000 and d["session_bytes"] > d["arena_bytes"] >= d["arena_lower_bound_bytes"] >= 12 * 28 * 28 * 4'
# grouped 3x3: 8*4*4 sums of 2*3*3; transposed: 4*4 places of 8*3*2*2; [3,64] by [64,5]; [3,5] by [7,5]
t 0 'info: parameters' info "$folder/macs.onnx"
prints 'info: producer' '^producer    maker 1[.]2-[?]$'
prints 'info: operator sets' '^opsets      ai[.]onnx 13, com[.]example 3$'
prints 'info: parameters' '^parameters  59[0-9]: .*float32 59[0-9] in 23[0-9]{2} bytes'
prints 'info: MACs' "^MACs        $((128 * 18 + 16 * 96 + 3 * 5 * 64 + 3 * 7 * 5)) in a run\$"
t 0 'info --json: parameters' info "$folder/macs.onnx" --json
py 'info --json: producer and sets' 'd["producer"] == {"name": "maker", "version": "1.2-\x1b"} and d["opsets"] == {"ai.onnx": 13, "com.example": 3}'
py 'info --json: parameters' 'd["parameters"] == sum(w["count"] for w in d["weights"].values()) and 595 <= d["weights"]["float32"]["count"] <= 596 and all(w["bytes"] == w["count"] * {"float32": 4, "int64": 8, "int32": 4, "int8": 1}[t] for t, w in d["weights"].items()) and d["weight_bytes"] == sum(w["bytes"] for w in d["weights"].values())'
for c in lstm_defaults:$((3 * (24 + 36))) gru_defaults:$((3 * (5 * 3 * 2 + 5 * 3 * 5))) basic_convinteger:16 matmulinteger:$((4 * 2 * 3)); do
    path=$data/test_${c%%:*}/model.onnx
    if [ ! -e "$path" ]; then
        skip "info: MACs of ${c%%:*}" 'the test data have no such model'
        continue
    fi
    t 0 "info: MACs of ${c%%:*}" info "$path"
    prints "info: MACs of ${c%%:*}" "^MACs        ${c##*:} in a run\$"
done
# what no session can have does not hide the rest of the file
for c in "strnormalizer_nostopwords_nochangecase:x  string:operators that are not supported .*StringNormalizer" \
    "sequence_insert_at_back:sequence  sequence of int64\[\*\]:input 'sequence' is a sequence of unknown length" \
    "range_float_type_positive_delta:start  float32\[\]:node 0 'Range_0' .* here: --max 'output=D"; do
    path=$data/test_${c%%:*}/model.onnx rest=${c#*:}
    t 0 "info: no session, ${c%%:*}" info "$path"
    prints "info: an input, ${c%%:*}" "^input +${rest%%:*}\$"
    prints "info: why, ${c%%:*}" "^session     none: ${rest#*:}"
    silent "info: no session, ${c%%:*}"
    t 0 "info --json: no session, ${c%%:*}" info "$path" --json
    py "info --json: no session, ${c%%:*}" 'd["nodes"] == 1 and len(d["no_session"]) > 20 and d["inputs"][0]["type"] in ("string", "sequence", "float32") and d["outputs"][0]["type"] in ("string", "sequence", "float32")'
    t 1 "info --memory: no session, ${c%%:*}" info "$path" --memory
done
t 2 'info: an unknown device' info "$data/test_range_float_type_positive_delta/model.onnx" --device nope
t 0 'info: instructions of a microcontroller' info $digits/digits.onnx
prints 'info: instructions of a microcontroller' '^cortex-m4   about [0-9.]+ million instructions in a run$'
t 0 'info --json: instructions of a microcontroller' info $digits/digits.onnx --json
py 'info --json: instructions of a microcontroller' '1 < d["cortex_m4"] / d["macs"] < 3'
t 0 'info: MACs of attention' info "$folder/attention.onnx"
prints 'info: MACs of attention' "^MACs        $((2 * 3 * 4 * 6 * (8 + 5))) in a run\$"
t 0 'info --memory' info $digits/digits.onnx --memory
prints 'info --memory: a value' '^ +0 +37632  0 to 1 +relu1  float32\[1,28,28,12\]$'
prints 'info --memory: a step' '^ +1 +47040  #{40}  MAX_POOL_FUSION pool1$'
silent 'info --memory'
t 0 'info --memory --json' info $digits/digits.onnx --memory --json
py 'info --memory: the most is the lower bound' 'max(d["bytes_taken"]) == d["arena_lower_bound_bytes"] and len(d["bytes_taken"]) == d["steps"]'
py 'info --memory: in the arena' 'len(d["memory_map"]) == 8 and all(b["offset"] + b["bytes"] <= d["arena_bytes"] for b in d["memory_map"])'
# the first convolution makes 28 x 28 x 12 floats, of which the first pooling makes 14 x 14 x 12
py 'info --memory: steps' 'any(b["bytes"] == 28 * 28 * 12 * 4 and (b["first"], b["last"]) == (0, 1) for b in d["memory_map"]) and any(b["bytes"] == 14 * 14 * 12 * 4 and (b["first"], b["last"]) == (1, 2) for b in d["memory_map"])'
py 'info --memory: values that live at once lie apart, but for one that takes the place of its input' 'all(a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"] or a["last"] < b["first"] or b["last"] < a["first"] or a["offset"] == b["offset"] and (a["last"] <= b["first"] or b["last"] <= a["first"]) for a in d["memory_map"] for b in d["memory_map"] if a is not b)'
t 0 'info --memory --max' info "$folder/open.onnx" --max 8,3 --memory
silent 'info --memory --max'
refused 1 'info --memory with subgraphs' "^nnrt: --memory: .* has a node 'If_0' \(IF\) with subgraphs, whose values have no memory map$" info "$data/test_if/model.onnx" --memory
t 0 'run, a bound that no memory has' run "$folder/wide.onnx" --input x=random --input axes="$folder/axes.npy" --top 1
prints 'run, a bound that no memory has' '^y  float32\[1,30,40,1,50,1\]$'
t 0 'run, more than the first room' run "$folder/many.onnx" --input "$folder/many.npy" --output-dir "$folder/many"
py 'run, more than the first room' "(lambda n, t, want: n.shape == (2, 1250000) and (n == want).all() and (t == want.T).all())(
    np.load(F + 'many/n.npy'), np.load(F + 'many/t.npy'), np.array(np.nonzero(np.ones((1000, 1250)))))"
t 0 'info with open extents' info "$folder/open.onnx"
prints 'info: open extent' '^input +x  float32\[n,3\]'
says 'info: open extent' "note: input 'x' is float32\[n,3\]: its batch is 1; --dim n=N sets it"
t 0 'info --shape' info "$folder/open.onnx" --shape 5,3 --json
py 'info --json: open extents are null' 'd["inputs"][0]["shape"] == [None, 3]'
silent 'info --shape'
refused 2 'info --shape against the model' 'input .x. is float32\[n,3\]' info "$folder/open.onnx" --shape x=5,4
refused 2 'info --shape of no input' "^nnrt: --shape y=5,3: the model has no input 'y'; its input is 'x'$" info "$folder/open.onnx" --shape y=5,3
refused 2 'info --shape of words' 'expected whole numbers' info "$folder/open.onnx" --shape 5,,3
t 0 'info --max' info "$folder/open.onnx" --max 8,3
prints 'info --max: the input' '^input +x  float32\[n,3\]  up to float32\[8,3\]$'
prints 'info --max: the output' '^output +y  float32\[3,8\]  at most$'
silent 'info --max'
t 0 'info --max --json' info "$folder/open.onnx" --max x=8,3 --json
py 'info --max --json' 'd["inputs"][0]["shape"] == [None, 3] and d["inputs"][0]["max"] == [8, 3] and d["outputs"][0]["shape"] == [3, 8] and d["outputs"][0]["open"] is True'
t 0 'info --max where all is fixed' info "$folder/two.onnx" --max a=2,2 --json
py 'info --max where all is fixed' '"max" not in d["inputs"][0] and "open" not in d["outputs"][0]'
t 0 'info --max, no shape in the file' info "$folder/rank.onnx" --max 7,4
prints 'info --max, no shape in the file' '^input +x  float32\[\?,\?\]  up to float32\[7,4\]$'
refused 2 '--max against the model' '--max x=5,4: input .x. is float32\[\?,3\]' info "$folder/open.onnx" --max x=5,4
refused 2 '--max of other axes' '--max 5: input .x. is float32\[\?,3\]' info "$folder/open.onnx" --max 5
refused 2 '--max of words' '--max 5,,3: expected whole numbers' info "$folder/open.onnx" --max 5,,3
refused 2 '--max without a name' "--max 2,2: it must start with NAME=, one of the inputs 'a', 'b'" info "$folder/two.onnx" --max 2,2
refused 2 '--max below --shape' '--max 4,3: --shape gives input .x. float32\[5,3\]' info "$folder/open.onnx" --max 4,3 --shape 5,3
refused 2 '--max for convert' 'unknown option --max' convert "$folder/open.onnx" "$folder/x.nnrt" --max 5,3
t 1 '--max of nothing' info "$folder/open.onnx" --shape 1,3 --max foo=5,3
says '--max of nothing' '--max foo=5,3: .* has no input and no result .foo.'
t 0 'info of a name with quotes' info "$folder/quote.onnx" --json
py 'info --json: names keep their characters' 'd["inputs"][0]["name"] == "a\"\\\u00e9\n"'
t 0 'info of a name with quotes' info "$folder/quote.onnx"
prints 'info: a line break in a name is no line break' '^input +a"\\.+\?  float32'

# ---- dot ----

t 0 'dot' dot $digits/digits.onnx
prints 'dot' '^digraph'
cp "$folder/out" "$folder/plain.dot"
t 0 'dot -o' dot $digits/digits.onnx -o "$folder/written.dot"
cmp -s "$folder/plain.dot" "$folder/written.dot" && [ ! -s "$folder/out" ]
verdict 'dot -o: another text, or text on standard output' $?
t 0 'dot -o -' dot $digits/digits.onnx -o -
same 'dot -o -: another text' "$folder/plain.dot" "$folder/out"
refused 1 'dot -o: no folder' 'cannot write .*/no/x.dot: No such file or directory$' dot $digits/digits.onnx -o "$folder/no/x.dot"
refused 1 'dot -o: onto the model' 'cannot write .*it is read by this command' dot "$folder/steps.onnx" -o "$folder/steps.onnx"
npu0='--device fake:name=npu0,not=MAX_POOL_FUSION --device auto:npu0'
t 0 'dot --device' dot $digits/digits.onnx $npu0
prints 'dot --device: a part has a box' '^  subgraph cluster_part3 [{]$'
prints 'dot --device: which says whose it is' 'label="part 3, npu0_nnrt_v1_0"'
py 'dot --device: nodes of a part are in its box' 're.search(r"cluster_part3 [{]\n.*\n((?:  n\d+;\n)+)  [}]", open(F + "out").read()).group(1) == "  n6;\n  n7;\n  n8;\n  n9;\n"'
py 'dot --device: a colour a device' 'len(set(re.findall("fillcolor=\"(0[.][0-9]{3} [^\"]*)\"", open(F + "out").read()))) == 2'
py 'dot --device: all nodes have one' 'len(re.findall("n[0-9]+ .shape=box style=\"rounded,filled\" fillcolor=", open(F + "out").read())) == 10'
t 0 'dot --device, small parts' dot $digits/digits.onnx $npu0 --smallest 2
prints 'dot --device, small parts' '^  subgraph cluster_part0 [{]$'
refused 1 'dot --strict alone' 'no device is registered and available' dot $digits/digits.onnx --strict
refused 1 'dot --strict' "strict: no device takes node 1 'pool1'" dot $digits/digits.onnx $npu0 --strict
t 0 'dot' dot $digits/digits.onnx
py 'dot: braces match, an operator is named' 'open(F + "out").read().count("{") == open(F + "out").read().count("}") > 0 and "MAX_POOL_FUSION" in open(F + "out").read()'

# ---- report ----

t 0 'report' report $digits/digits.onnx -o "$folder/r.html"
prints 'report' '/r.html$'
silent 'report'
t 0 'report: the map beside it' info $digits/digits.onnx --memory --json
py 'report: nodes' 'len([t for t in page("r.html").titles if t.startswith("node ")]) == 10'
py 'report: a node' '(lambda t: "conv2 (CONV2D_FUSION)" in t and "float32[1,24,14,14]" in t and "us on reference_nnrt_v2_0" in t)([t for t in page("r.html").titles if t.startswith("node 2 ")][0])'
py 'report: a node without a step' '"no step of its own" in [t for t in page("r.html").titles if "(FLATTEN)" in t][0]'
py 'report: steps' 'page("r.html").rows["steps"] == 1 + 9'
py 'report: memory' 'page("r.html").rects["memory"] == len(d["memory_map"]) and page("r.html").rows["taken"] == 1 + len(d["bytes_taken"])'
py 'report: full names' '{"input image", "output probabilities"} <= {t.split("\n")[0] for t in page("r.html").titles}'
py 'report: axes' '(lambda w: {"step", "offset in the arena, KiB", "0", "8", "10", "40"} <= set(w) and "50" not in w)(page("r.html").words["memory"])'
py 'report: the device of the steps' '"reference_nnrt_v2_0: 9 of 9 steps" in page("r.html").words[""]'
# 77,848 bytes in the file, of which 3 of the 4 parameters of each batch normalization go into the weights: 816 bytes
py 'report: constants in place' '"77032 bytes: 77032 read in place, 0 copied or packed by the device" in page("r.html").words[""]'
t 0 'report: a device that packs' report $digits/digits.onnx --device cpu -o "$folder/packed.html"
py 'report: constants packed' '"77032 bytes: 0 read in place, 77032 copied or packed by the device" in page("packed.html").words[""]'
t 0 'report: two devices' report $digits/digits.onnx --device fake:name=npu0,ops=CONV2D_FUSION --device auto:npu0 -o "$folder/r2.html"
py 'report: two devices' '{"npu0_nnrt_v1_0: 3 of 12 steps", "auto_nnrt_v2_0: 9 of 12 steps"} <= set(page("r2.html").words[""])'
t 0 'report: a long name' report "$folder/names.onnx" -o "$folder/long.html"
py 'report: a long name' '"output " + "e" * 251 in {t.split("\n")[0] for t in page("long.html").titles}'
py 'report: one page' 'not page("r.html").tags & {"script", "link", "img", "iframe"}'
t 0 'report: names with signs' report "$folder/html.onnx" -o "$folder/signs.html"
py 'report: names with signs' 'not page("signs.html").tags & {"b"} and "&lt;b&gt;&amp;" in open(F + "signs.html").read()'
t 0 'report: a loop' report "$folder/loop.onnx" -o -
prints 'report: a loop, no map' 'There is no memory map'
prints 'report: a loop, step' 'LOOP'
refused 2 'report: no file' 'the output file is missing' report $digits/digits.onnx
refused 1 'report: no folder' 'cannot write .*/no/r.html: No such file or directory$' report $digits/digits.onnx -o "$folder/no/r.html"
refused 2 'report: JSON' 'unknown option --json' report $digits/digits.onnx -o "$folder/r.html" --json

total
