#!/bin/sh
# test_cli_check.sh: nnrt check, compare and accuracy. Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models turns sets

# ---- check ----

t 0 'bench --max' bench "$folder/open.onnx" --reps 2 --max 9,3 --shape 4,3
silent 'bench --max'
t 1 'bench of a run that fails' bench "$folder/gather.onnx" --reps 2 --shape 2
t 0 'check' check "$folder/open.onnx" --data "$folder/good"
prints 'check: first set' '^test_data_set_0  y  float32\[3,1\]  max error .* ok$'
prints 'check: total' '^3 passed, 0 failed$'
py 'check: sets in the order of their numbers' '[l.split()[0] for l in open(F + "out").read().splitlines()] == ["test_data_set_0", "test_data_set_2", "test_data_set_10", "3"]'
t 1 'check with a narrow tolerance' check "$folder/open.onnx" --data "$folder/good" --rtol 1e-4 --json
py 'check --json' 'd["passed"] == 2 and d["failed"] == 1 and [s["ok"] for s in d["sets"]] == [False, True, True] and 3e-4 < d["sets"][0]["outputs"][0]["max_relative_error"] < 6e-4'
t 0 'check of one folder' check "$folder/open.onnx" --data "$folder/good/test_data_set_2/"
prints 'check of one folder' '^1 passed, 0 failed$'
t 0 'check --max' check "$folder/open.onnx" --data "$folder/good" --max 9,3
prints 'check --max' '^test_data_set_10  y  float32\[3,7\]  max error 0, relative 0  ok$'
t 1 'check --max, too small' check "$folder/open.onnx" --data "$folder/good" --max 4,3
says 'check --max, too small' "is float32\[7,3\], which exceeds --max for input 'x', float32\[4,3\]"
prints 'check --max, too small' '^2 passed, 1 failed$'
t 0 'check by names' check "$folder/two.onnx" --data "$folder/swapped" --rtol 0 --atol 0
t 1 'check: wrong' check "$folder/open.onnx" --data "$folder/wrong"
prints 'check: wrong value' '^wrong  y .* max error 2, relative 1  WRONG$'
prints 'check: wrong value, where' 'first \[1,1\]: got 0, expected 2$'
prints 'check: wrong, total' '^0 passed, 1 failed$'
for c in 'shape:is float32\[2,3\], but the output is float32\[3,2\]' 'type:is float64\[3,2\], but the output is float32' \
    'nooutput:has no output_0.pb and no output_0.npy' "noinput:no value for input 'x'" 'toomany:the model has 1 input only'; do
    t 1 "check: ${c%%:*}" check "$folder/open.onnx" --data "$folder/${c%%:*}"
    says "check: ${c%%:*}" "${c#*:}"
done
t 0 'check of .npy files' check "$folder/open.onnx" --data "$folder/numpy"
prints 'check of .npy files' '^numpy  y  float32\[3,5\]  max error 0, relative 0  ok$'
t 0 'check --expected' check "$folder/two.onnx" --input a="$folder/a.npy" --input b="$folder/b.npy" --expected sum:out="$folder/swapped/output_0.pb" --expected sum/out="$folder/sum.npy" --rtol 0 --atol 0
prints 'check --expected: a .npy file' '^sum.npy  sum/out  float32\[2,2\]  max error 0, relative 0  ok$'
prints 'check --expected: total' '^1 passed, 0 failed$'
t 1 'check --expected: wrong' check "$folder/open.onnx" --input "$folder/rows.npy" --expected "$folder/four.npy" --json
says 'check --expected: wrong' 'four.npy is float32\[4\], but the output is float32\[3,5\]'
py 'check --expected: wrong' 'd["passed"] == 0 and d["sets"] == [{"name": "", "outputs": [], "ok": False}]'
t 1 'check --expected: a value' check "$folder/steps.onnx" --input "$folder/steps.npy" --expected y="$folder/steps.npy"
prints 'check --expected: a value' '^steps.npy  y  float32\[2,3\]  max error .* WRONG$'
t 1 'check --expected of no output' check "$folder/steps.onnx" --input "$folder/steps.npy" --expected z="$folder/steps.npy"
says 'check --expected of no output' '--expected z=.*: it must start with NAME=, the name of an output'
refused 2 'check --expected and --data' 'no test data' check "$folder/open.onnx" --data "$folder/good" --expected y="$folder/rows.npy"
refused 2 'check --input and --data' 'no test data' check "$folder/open.onnx" --data "$folder/good" --input "$folder/rows.npy"
t 1 'check: JSON of a failure' check "$folder/open.onnx" --data "$folder/type" --json
py 'check: JSON of a failure' 'd["failed"] == 1 and d["sets"] == [{"name": "type", "outputs": [], "ok": False}]'
mkdir "$folder/empty"
refused 1 'check: nothing there' 'neither input_0.pb nor input_0.npy nor a folder' check "$folder/open.onnx" --data "$folder/empty"
refused 1 'check: no folder' 'cannot open the folder' check "$folder/open.onnx" --data "$folder/none"

# ---- compare ----

t 0 'compare' compare $digits/digits.onnx --device reference --device auto
prints 'compare: devices' '^devices   reference_nnrt_v2_0 and auto_nnrt_v2_0$'
prints 'compare: nodes' '^nodes     10 with 10 results$'
prints 'compare: tolerance' '^tolerance float16 0.001 [+] 0.01 [*] [|]a[|], float32 1e-05 [+] 0.0001 [*] [|]a[|], float64 1e-07 [+] 1e-07 [*] [|]a[|], quantized 1, other types 0$'
prints 'compare: output' '^output    probabilities  float32\[1,10\]  ok, max error 0, relative 0$'
prints 'compare: none' '^first     no result differs$'
silent 'compare'
t 0 'compare with reference' compare "$folder/steps.onnx" --device auto --json
py 'compare with reference' 'd["devices"] == ["reference_nnrt_v2_0", "auto_nnrt_v2_0"] and d["compared"] == 3 and d["first"] is None and d["ok"] and (d["outputs"][0]["rtol"], d["outputs"][0]["atol"]) == (1e-4, 1e-5)'
refused 2 'compare: no device' 'expected --device A --device B' compare "$folder/steps.onnx"
refused 2 'compare: three devices' 'expected --device A --device B' compare "$folder/steps.onnx" --device auto --device auto --device auto
refused 2 'compare: no such device' 'unknown device' compare "$folder/steps.onnx" --device auto --device toaster
refused 2 'compare: no value' "no value for input 'b'" compare "$folder/two.onnx" --device auto --input a=random
if [ -z "$devices" ]; then
    skip 'compare: devices that differ' 'there is no program with more devices'
else
    program=$devices
    t 1 'compare: a sum differs' compare "$folder/steps.onnx" --device reference --device rough --input "$folder/steps.npy" --rtol 0 --atol 0 --json
    py 'compare: a sum differs: which' '(lambda f: (f["node_name"], f["operator"], f["value"]["name"]))(d["first"]) == ("Add_1", "ADD_FUSION", "s") and not d["ok"]'
    py 'compare: a sum differs: place and values' '(lambda s, v: (lambda w: v["wrong"] == len(w) and v["index"] == [int(i) for i in w[0]] and np.float32(v["values"][0]) == s[tuple(w[0])] and np.float32(v["values"][1]) == rough(s)[tuple(w[0])])(np.argwhere(s != rough(s))))((lambda x: x * x + x)(load("steps.npy")), d["first"]["value"])'
    py 'compare: a sum differs: largest' '(lambda s, v: abs(v["max_error"] - np.abs(s.astype(float) - rough(s)).max()) < 1e-9 and abs(v["max_relative_error"] - (np.abs(s.astype(float) - rough(s)) / s).max()) < 1e-9)((lambda x: x * x + x)(load("steps.npy")), d["first"]["value"])'
    py 'compare: a sum differs: the output' 'len(d["outputs"]) == 1 and d["outputs"][0]["name"] == "y" and not d["outputs"][0]["ok"]'
    t 1 'compare: as text' compare "$folder/steps.onnx" --device rough --input "$folder/steps.npy"
    prints 'compare: as text' "^first     node 1 'Add_1' \(ADD_FUSION\), 's' float32\[2,3\]\$"
    prints 'compare: as text, values' '^          [1-3] of 6 differ, first \[1,[0-2]\]: [0-9.]+ and [0-9.]+; max error [0-9.e-]+, relative [0-9.e-]+$'
    t 1 'compare: random values' compare "$folder/steps.onnx" --device rough
    t 0 'compare: tolerance' compare "$folder/steps.onnx" --device rough --input "$folder/steps.npy" --rtol 0.01 --json
    py 'compare: tolerance' 'd["first"] is None and d["ok"] and d["outputs"][0]["max_error"] > 0'
    # rough keeps 10 fraction bits: an error of up to 1e-3 of each value, 1/128 of a unit here
    t 0 'compare: tolerance of one value' compare "$folder/steps.onnx" --device rough --input "$folder/steps.npy" --rtol 0 --atol 0.01 --json
    py 'compare: tolerance of one value' '(d["outputs"][0]["rtol"], d["outputs"][0]["atol"]) == (0, 0.01)'
    for c in '1:' '0:--rtol 1e-3' '1:--rtol 1e-3 --atol 0 --rtol 0'; do
        # shellcheck disable=SC2086  # several words, or none
        t ${c%%:*} "compare: ${c#*:}" compare "$folder/steps.onnx" --device rough --input "$folder/steps.npy" ${c#*:}
    done
    t 0 'compare: quantized, one unit' compare "$folder/units.onnx" --device unit --json
    py 'compare: quantized, one unit' 'd["first"] is None and (d["outputs"][0]["type"], d["outputs"][0]["max_error"], d["outputs"][0]["atol"]) == ("int8", 1, 1)'
    t 1 'compare: quantized, exact' compare "$folder/units.onnx" --device unit --atol 0
    t 1 'compare: integers are exact' compare "$folder/turn_int8.onnx" --device unit --json
    py 'compare: integers are exact' '(d["outputs"][0]["wrong"], d["outputs"][0]["max_error"], d["outputs"][0]["atol"]) == (1, 1, 0)'
    t 1 'compare: inside a loop' compare "$folder/loop.onnx" --device rough --input "$folder/tenth.npy" --json
    py 'compare: inside a loop' 'd["first"]["operator"] == "LOOP" and d["compared"] == 1'
    t 0 'compare: .nnrt' convert "$folder/steps.onnx" "$folder/steps.nnrt"
    t 1 'compare: .nnrt' compare "$folder/steps.nnrt" --device rough --input "$folder/steps.npy" --json
    py 'compare: .nnrt' 'd["first"]["operator"] == "ADD_FUSION"'
    t 1 'compare: only where nobody looks' compare "$folder/steps.onnx" --device shy --input "$folder/steps.npy"
    prints 'compare: only where nobody looks' '^first     no result differs when all results are outputs, which disables fusion: a device computes'
    t 0 'compare: a device with its own kernels' compare $digits/digits.onnx --device example
    # a model with an operator of the application: examples/custom
    t 0 'an own operator: saved' snake "$folder/snake.nnrt"
    t 0 'an own operator: info' info "$folder/snake.nnrt"
    prints 'an own operator: info' '^ +1  com\.acme\.Snake$'
    prints 'an own operator: what it keeps' '^keep        -DNNRT_SELECT -DNNRT_KEEP_TYPES='
    t 0 'an own operator: dot' dot "$folder/snake.nnrt"
    prints 'an own operator: dot' 'com\.acme\.Snake.*alpha=2'
    t 0 'an own operator: run' run "$folder/snake.nnrt" --input random --profile
    prints 'an own operator: profile' 'com\.acme\.Snake'
    t 0 'an own operator: compare' compare "$folder/snake.nnrt" --device auto --json
    py 'an own operator: compare' 'd["first"] is None and d["ok"]'
    t 0 'an own operator: placement' info "$folder/snake.nnrt" --device auto:example --placement
    refused 1 'an own operator: emit-c' "node 0 'y' is of the application's operator com\.acme\.Snake, whose kernel exists only in this program" emit-c "$folder/snake.nnrt" -o "$folder/snake.h"
    absent 'an own operator: emit-c: a file' "$folder/snake.h"
    program=$sanitized
    refused 1 'an own operator elsewhere' "node 0 'y': its operator 'com\.acme\.Snake' is not registered" info "$folder/snake.nnrt"
fi

# ---- accuracy ----

mkdir "$folder/q" && cp "$digits"/digit_?.png "$folder/q"
for i in 0 1 2 3 4 5 6 7 8 9; do echo "digit_$i.png $i"; done >"$folder/classes.txt"
t 0 'accuracy' accuracy $digits/digits.onnx $digits/digits_int8.onnx --data "$folder/q" --labels "$folder/classes.txt"
prints 'accuracy: samples' '^samples +10 of 10 classes$'
prints 'accuracy: top 1' '^top 1 +100.00 %, 10$'
prints 'accuracy: agreement' '^agree +10 of 10$'
silent 'accuracy'
printf '%s\n' 0 1 2 3 4 5 6 7 9 9 >"$folder/wrong.txt"
t 0 'accuracy, a wrong label' accuracy $digits/digits.onnx --data "$folder/q" --labels "$folder/wrong.txt"
prints 'accuracy, a wrong label' '^top 1 +90.00 %, 9$'
prints 'accuracy: confusion' '^confused +9 as 8: 1$'
py 'classes as integers' "np.save(F + 'classes.npy', np.arange(10)) is None"
t 0 'accuracy --json' accuracy $digits/digits.onnx --data "$folder/q" --labels "$folder/classes.npy" --json --samples 4
py 'accuracy --json' "d['samples'] == 4 and d['classes'] == 10 and d['models'][0]['top1'] == 4 and d['models'][0]['top5'] == 4"
refused 2 'accuracy without labels' 'expected --labels FILE once' accuracy $digits/digits.onnx --data "$folder/q"
echo 'digit_1.png 10' >"$folder/bad.txt"
refused 1 'accuracy, no such class' "line 1 has class '10', expected 0 to 9 or a label of the model" accuracy $digits/digits.onnx --data "$folder/q" --labels "$folder/bad.txt"
echo 'other.png 1' >"$folder/bad.txt"
refused 1 'accuracy, no such file' "line 1 names 'other.png', which is no file in" accuracy $digits/digits.onnx --data "$folder/q" --labels "$folder/bad.txt"
echo 1 >"$folder/bad.txt"
refused 1 'accuracy, too few labels' 'has no class from 0 to 9 for sample 1' accuracy $digits/digits.onnx --data "$folder/q" --labels "$folder/bad.txt"

total
