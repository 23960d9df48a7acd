#!/bin/sh
# test_cli_devices.sh: --device, --load and nnrt devices: fakes, shared objects, partitions, hints. Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models

t 0 'devices' devices
prints 'devices lists the reference' '^reference  nnrt  CPU  AVAILABLE$'
prints 'devices: bits' '^the reference device gives the same bits here as everywhere$'
t 0 'devices --json' devices --json
py 'devices --json: bits' 'd["same_bits"] is True'
py 'devices --json' '[x for x in d["devices"] if x["name"] == "reference"][0]["status"] == "AVAILABLE"'
t 0 'devices --device fake' devices --device fake:name=npu0,vendor=acme,type=GPU --device fake:
prints 'devices lists a fake device' '^npu0  acme  GPU  AVAILABLE$'
prints 'devices lists two of them' '^fake  nnrt  ACCELERATOR  AVAILABLE$'
t 0 'run --device fake' run $digits/digits.onnx --input $digits/digit_7.png --device fake: --output-dir "$folder/fake_out"
t 0 'run --device reference' run $digits/digits.onnx --input $digits/digit_7.png --device reference --output-dir "$folder/reference_out"
same 'a fake device has the bits of the reference device' "$folder/fake_out" "$folder/reference_out"
refused 1 'run --device fake: what it does not take' "device 'fake' does not have this operator" run $digits/digits.onnx --input random --device fake:not=SOFTMAX+CONV2D_FUSION
t 0 'run --float16 and the rest' run $digits/digits.onnx --input $digits/digit_7.png --device fake:float16=yes,modes=yes,priorities=yes --float16 --performance extreme --priority high --extension a=b --extension=c=
prints 'run --float16: the digit' '^  7  1$'
refused 1 'run --float16 on a device that has none' "device 'reference_nnrt_v2_0' has no float32 in float16" run $digits/digits.onnx --input random --device reference --float16
t 0 'run --float16 and the rest on cpu' run $digits/digits.onnx --input $digits/digit_7.png --device cpu --float16 --performance extreme --priority high --top 1
prints 'run --float16 on cpu: the digit' '^  7  0\.9999'
t 0 'hints on reference' run $digits/digits.onnx --input $digits/digit_7.png --device reference --performance high --priority low --top 1
prints 'hints on reference: the digit' '^  7  0\.99998'
refused 1 'run --float16 on auto' "has no float32 in float16" run $digits/digits.onnx --input random --float16
refused 1 'run --performance on a device that has none' "has no performance modes" run $digits/digits.onnx --input random --device fake: --performance low
refused 1 'run --priority on a device that has none' "has no priorities" run $digits/digits.onnx --input random --device fake: --priority low
refused 2 '--performance: no such mode' "--performance does not take 'fast'" run $digits/digits.onnx --performance fast
refused 2 '--priority: no such level' "--priority does not take 'extreme'" run $digits/digits.onnx --priority extreme
for v in '' name =value "$(printf '%064d' 0)=x"; do
    refused 2 "--extension '$v'" '--extension does not take' run $digits/digits.onnx --extension "$v"
done
t 0 'run --device cpu --extension' run $digits/digits.onnx --input $digits/digit_7.png --device cpu --extension nnrt.cpu.winograd=0
prints 'run --device cpu --extension: the digit' '^  7  0\.999989$'
refused 1 'run --device cpu: no such extension' "extension 'nnrt.cpu.winograd' is '3', expected 0" run $digits/digits.onnx --input random --device cpu --extension nnrt.cpu.winograd=3
refused 1 'run on auto: no such extension value' "extension 'nnrt.cpu.winograd' is '3', expected 0" run $digits/digits.onnx --input random --device auto:cpu --extension nnrt.cpu.winograd=3
refused 1 'run on auto: a misspelt extension' "there is no extension 'nnrt.cpu.winogard'; this device has nnrt.cpu.winograd," run $digits/digits.onnx --input random --device auto:cpu --extension nnrt.cpu.winogard=0
refused 1 'run --device fake: that fails' "device 'fake' was told to fail" run $digits/digits.onnx --input random --device fake:fail=RunIn
t 0 'run --device fake: without the size of a workspace' run $digits/digits.onnx --input random --device fake:without=GetWorkspaceSize
refused 2 'run --device fake: a bad text' "ops has 'CONV', expected operator names" run $digits/digits.onnx --input random --device fake:ops=CONV
driver=build/test/libplain_npu.so # tests/compat/nnadapter_plain.c: ADD and CONV_2D
sum=$data/test_add
t 0 'devices --load' devices --load $driver
prints 'devices --load: the device' '^plain_npu  tests  ACCELERATOR  AVAILABLE$'
t 0 'devices --load --json' devices --properties 'PLAIN_NPU_SPEED=9;' --load=$driver --json
py 'devices --load --json' '[x for x in d["devices"] if x["name"] == "plain_npu"][0]["unique_name"] == "plain_npu_tests_v3_0"'
refused 2 'devices --properties without a value' "--properties does not take 'fast'" devices --properties fast --load $driver
refused 2 'devices --load twice' "--load $driver: a device 'plain_npu' is registered already" devices --load $driver --load $driver
refused 2 'devices --load of nothing' "--load [^ ]*: '[^']*libnone.so' cannot be loaded" devices --load "$folder/libnone.so"
refused 2 'devices --load of another file' "--load [^ ]*: '[^']*digits.onnx' cannot be loaded" devices --load $digits/digits.onnx
cp $driver "$folder/plain_npu.so"
refused 2 'devices --load of another name' "the file name of '[^']*' must be lib<device>.so" devices --load "$folder/plain_npu.so"
table=build/test/libtable_npu.so # tests/devices/table_npu.c: a device table, ABS of float32 alone
absolute=$data/test_abs
t 0 'devices --load of a device table' devices --load $table
prints 'devices --load: the device of the table' '^table_npu  tests  ACCELERATOR  AVAILABLE$'
t 0 'check on the device of a table' check "$absolute/model.onnx" --data "$absolute" --load $table --device table_npu
refused 1 'a model that it does not take' "device 'table_npu_tests_v1_0'" run "$sum/model.onnx" --input random --load $table --device table_npu
refused 2 'devices --load of a table twice' "a device 'table_npu' of 'tests' is registered already" devices --load $table --load $table
TABLE_NPU_GONE=1
export TABLE_NPU_GONE
program=$nnrt # started with this variable
refused 2 'a driver without a device' 'has no device: nnrt_driver returns NULL' devices --load $table
unset TABLE_NPU_GONE
program=$sanitized
t 0 'check on a loaded device' check "$sum/model.onnx" --data "$sum" --load $driver --device plain_npu
refused 2 'a device before it is loaded' 'unknown device' check "$sum/model.onnx" --data "$sum" --device plain_npu --load $driver
refused 1 'a model that the loaded device does not take' 'no NNAdapter operation can express node 6 .FLATTEN.' bench "$digits/digits.onnx" --load $driver --device plain_npu
t 0 'info --placement' info $digits/digits.onnx --device fake:name=npu0,ops=CONV2D_FUSION --device fake:name=npu1,ops=MAX_POOL_FUSION --device auto:npu0,npu1 --placement
prints 'info --placement: the preferred device' '^placement       0  conv1  CONV2D_FUSION  npu0_nnrt_v1_0  part 0$'
prints 'info --placement: the second one, and why' "^                1  pool1  MAX_POOL_FUSION  npu1_nnrt_v1_0  part 1  node 1 'pool1' \\(MAX_POOL_FUSION\\): device 'npu0' does not have this operator\$"
prints 'info --placement: the rest' '^                9  probabilities  SOFTMAX  reference_nnrt_v2_0  node 9'
t 0 'info --placement --json' info $digits/digits.onnx --device fake:name=npu0,ops=CONV2D_FUSION --device auto:npu0 --placement --json
py 'info --placement --json' '[p.get("part") for p in d["placement"] if p["operator"] == "CONV2D_FUSION"] == [0, 1, 2] and d["placement"][1]["device"] == "reference_nnrt_v2_0" and "part" not in d["placement"][1]'
t 0 'info --placement on one device' info $digits/digits.onnx --device reference --placement --json
py 'info --placement on one device' 'all(p["device"] == "reference_nnrt_v2_0" and p["reason"] == "" for p in d["placement"])'
t 0 'run --device auto:' run $digits/digits.onnx --input $digits/digit_7.png --device fake:name=npu0,ops=CONV2D_FUSION+SOFTMAX --device auto:npu0 --output-dir "$folder/auto_out"
same 'a split model has the bits of the reference device' "$folder/auto_out" "$folder/reference_out"
# every command that creates a session accepts the options of auto
npu0='--device fake:name=npu0,ops=EQUAL --device auto:npu0 --strict'
refused 1 'info --strict' "strict: no device takes node 0 'conv1'" info $digits/digits.onnx $npu0
refused 1 'run --strict' "strict: no device takes node 0 'conv1'" run $digits/digits.onnx --input random $npu0
refused 1 'bench --strict' "strict: no device takes node 0 'conv1'" bench $digits/digits.onnx $npu0
t 1 'check --strict' check "$sum/model.onnx" --data "$sum" $npu0
says 'check --strict' 'strict: no device takes node 0 '
refused 1 'compare --strict' 'no device is registered and available' compare $digits/digits.onnx --input random --device auto --device reference --strict
t 0 'run --strict, all on devices' run $digits/digits.onnx --input $digits/digit_7.png --device fake:name=npu0,ops=CONV2D_FUSION+SOFTMAX --device fake:name=npu1,not=SOFTMAX --device auto:npu0,npu1 --strict
refused 1 'run, a device that fails' "part 0, on device 'npu0_nnrt_v1_0': device 'npu0' was told to fail" run $digits/digits.onnx --input random --device fake:name=npu0,ops=CONV2D_FUSION,fail=RunIn --device auto:npu0
t 0 'run --fallback' run $digits/digits.onnx --input $digits/digit_7.png --device fake:name=npu0,fail=RunIn --device auto:npu0 --fallback --output-dir "$folder/fallback_out"
same 'run --fallback has the bits of the reference device' "$folder/fallback_out" "$folder/reference_out"
refused 1 'run --strict --fallback' 'strict and fallback are both set' run $digits/digits.onnx --input random --device auto --strict --fallback
printf '# kept\r\nSOFTMAX\r\nMAX_POOL_FUSION::pool1\nTANH\n' >"$folder/keep.txt"
t 0 'info --keep' info $digits/digits.onnx --device fake:name=npu0 --device auto:npu0 --keep "$folder/keep.txt" --strict --placement --json
py 'info --keep' '[(p["name"], p["reason"]) for p in d["placement"] if p["device"] == "reference_nnrt_v2_0"] == [(n, "the partition text keeps it on the reference device") for n in ("pool1", "probabilities")]'
says 'info --keep: a record for nothing' "--keep: no node matches 'TANH'"
t 0 'info --records' info $digits/digits.onnx --records
prints 'info --records' '^CONV2D_FUSION:image:relu1$'
prints 'info --records' '^FULL_CONNECTION:relu4,fc2[.]weight:fc2$'
grep '^SOFTMAX' "$folder/out" >"$folder/record.txt"
refused 2 'info --records --json' '--records prints the lines of a --keep file and cannot be combined with --json' info $digits/digits.onnx --records --json
t 0 'info --keep, of a record' info $digits/digits.onnx --device fake:name=npu0 --device auto:npu0 --keep "$folder/record.txt" --strict --placement --json
py 'info --keep, of a record' '[p["name"] for p in d["placement"] if p["device"] == "reference_nnrt_v2_0"] == ["probabilities"]'
t 0 'info --smallest' info $digits/digits.onnx --device fake:name=npu0,not=MAX_POOL_FUSION --device auto:npu0 --smallest 2 --placement --json
py 'info --smallest' '[(p["name"], p["reason"]) for p in d["placement"] if "fewer" in p["reason"]] == [(n, "its part has fewer nodes than are wanted") for n in ("conv1", "conv2", "conv3")]'
refused 2 'info --smallest 0' "smallest" info $digits/digits.onnx --smallest 0
refused 1 'info --keep: no file' "cannot open $folder/no_keep.txt" info $digits/digits.onnx --device auto --keep "$folder/no_keep.txt"
printf 'SOFT\0MAX\n' >"$folder/keep.txt"
refused 1 'compare --keep: no text' "cannot use $folder/keep.txt: it is not a text file" compare $digits/digits.onnx --input random --device auto --device reference --keep "$folder/keep.txt"
refused 1 'info --keep: no text' "cannot use $folder/keep.txt: it is not a text file" info $digits/digits.onnx --device auto --keep "$folder/keep.txt"
refused 1 'run --device auto: nobody' "there is no device at the beginning of 'nobody'" run $digits/digits.onnx --input random --device auto:nobody

total
