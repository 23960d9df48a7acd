#!/bin/sh
# test_cli_usage.sh: help, versions, wrong arguments, and files that are no models. Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models imports

t 0 '--help' --help
prints 'help names the version' '^nnrt [0-9]+\.[0-9]+\.[0-9]+ '
silent '--help'
commands='info run bench generate embed tokenize check compare accuracy batch report convert quantize dot ops devices'
for c in $commands; do prints "--help lists $c" "^  $c "; done
program=$plain
for c in $commands; do
    t 0 "$c --help" $c --help
    prints "$c --help: usage" "^usage: nnrt $c"
    prints "$c --help: example" "^  nnrt $c "
    silent "$c --help"
done
t 0 '--version' --version
prints '--version' '^nnrt [0-9]+\.[0-9]+\.[0-9]+$'

# ---- wrong arguments ----

program=$sanitized
refused 2 'no command' 'the command is missing'
refused 2 'unknown command' "unknown command 'fly'" fly
t 0 'help of a command' help run
prints 'help of a command' '^usage: nnrt run MODEL'
t 0 'help' help
prints 'help' '^usage: nnrt COMMAND'
refused 2 'convert with two output files' "unexpected argument 'b.nnrt'" convert a.onnx -o c.nnrt b.nnrt
refused 2 'misspelt command' "unknown command 'rnu'; did you mean 'run'\?" rnu model.onnx
refused 2 'misspelt option' 'unknown option --inptu; did you mean --input\?' run model.onnx --inptu=3
refused 2 'misspelt option of another command' "^nnrt: ops: unknown option --inptu; 'nnrt ops --help' lists the options$" ops --inptu
refused 2 'unknown option' 'unknown option --fly' run model.onnx --fly
refused 2 'option of another command' 'unknown option --golden' run model.onnx --golden 3
refused 2 'value lacks' '--threads lacks its value' run model.onnx --threads
refused 2 'value not wanted' '--json takes no value' run model.onnx --json=1
refused 2 'no model' 'the model is missing' info
refused 2 'two models' "unexpected argument 'b'" info a b
refused 2 'operand not wanted' "unexpected argument 'a'" ops a
refused 2 'no data' 'no test data' check model.onnx
for v in 0 -1 x '' 2x 99999999999999999999; do
    refused 2 "--threads '$v'" '--threads does not take' run model.onnx --threads "$v"
done
refused 2 '--mean of words' '--mean does not take' run model.onnx --mean 1,x
refused 2 '--scale of five' '--scale does not take' run model.onnx --scale 1,2,3,4,5
refused 2 '--scale by zero' '--scale does not take' run model.onnx --scale 1/0
refused 2 '--layout' '--layout does not take' run model.onnx --layout hwc
refused 2 '--rtol below zero' '--rtol does not take' check model.onnx --rtol=-1
refused 2 'unknown device' 'unknown device' bench model.onnx --device toaster

# ---- files that are no models ----

for c in info run bench dot; do
    refused 1 "$c: model not there" 'cannot open .*missing.onnx: No such file' $c "$folder/missing.onnx"
    refused 1 "$c: not a model" 'cannot load .*not.onnx: ' $c "$folder/not.onnx"
done
# looks NAME BYTES PATTERN: a file of these bytes and zeros is no model; the message names its probable format
looks() {
    { printf "$2" && head -c 100 /dev/zero; } >"$folder/looks.onnx"
    refused 1 "looks like $1" "this is not an ONNX file; it looks like $3" info "$folder/looks.onnx"
}
looks PNG '\211PNG\r\n\032\n' 'a PNG image$'
looks JPEG '\377\330\377\340' 'a JPEG image$'
looks pickle '\200\002}q' 'a Python pickle, perhaps of PyTorch'
looks PyTorch 'PK\003\004aaaaaaaaaaaaaaaaaaaaaaaaaamodel/data.pkl' 'a PyTorch file: export'
looks zip 'PK\003\004aaaa' 'a zip archive$'
looks gzip '\037\213\010' 'compressed by gzip'
looks HDF5 '\211HDF\r\n\032\n' 'an HDF5 file'
{ printf '\100\000\000\000\000\000\000\000{"a"' && head -c 100 /dev/zero; } >"$folder/looks.onnx"
mkdir -p "$folder/none"
refused 1 'a folder without a model' 'cannot read .*/none: a folder is a model if it has model.safetensors' info "$folder/none"
refused 1 'a safetensors file alone' 'cannot load .*looks.onnx: .*config.json.* cannot be opened; config.json belongs beside the weights' info "$folder/looks.onnx"
{ printf 'GGUF\003' && head -c 100 /dev/zero; } >"$folder/looks.onnx" # its bytes say what it is, not its name
refused 1 'a GGUF file without tensors' 'cannot load .*looks.onnx: .*GGUF' info "$folder/looks.onnx"
looks ELF '\177ELF\002\001\001' 'an ELF executable or library$'
looks Mach-O '\317\372\355\376\007' 'a Mach-O executable or library$'
looks PE 'MZ\220\000\003' 'a Windows executable or library$'
looks PDF '%%PDF-1.7' 'a PDF document$'
looks GIF 'GIF89a' 'a GIF image$'
looks RIFF 'RIFF\044\000\000\000WAVE' 'a RIFF file'
looks bzip2 'BZh91AY' 'compressed by bzip2'
looks xz '\3757zXZ\000' 'compressed by xz'
looks Zstandard '\050\265\057\375' 'compressed by Zstandard'
looks JSON '{"a": 1}' 'a text of JSON$'
refused 1 'looks like a program' 'it looks like an ELF executable or library$' run "$(command -v "$python")" --input random
refused 1 'looks like a text' 'this is not an ONNX file; it looks like a text$' info tests/tools/test_cli_usage.sh
: >"$folder/looks.onnx"
refused 1 'looks like nothing' 'this is not an ONNX file; it looks like an empty file$' info "$folder/looks.onnx"
looks 'Git LFS' 'version https://git-lfs.github.com/spec/v1' 'a pointer of Git LFS'
refused 1 'operators that are not read' "operators that are not supported \(operator set 13, written by torch 2.3\): StringConcat x2 'one', .. \(strings\), Fly x1, ai.onnx.ml.ZipMap x1 \(maps; export with the option zipmap=False\)\$" dot "$folder/fly.onnx"
refused 1 'operators of ONNX Runtime' "operators that are not supported: com.microsoft.MoE x1 'one'; com.microsoft is ONNX Runtime's: save at ORT_ENABLE_BASIC, quantized as QDQ, or nnrt_op_register; nnrt_onnx_desc.outputs 'a' leaves them out; here --outputs NAME,... does\$" dot "$folder/ort.onnx"

"$nnrt" ops >/dev/full 2>"$folder/err"
[ $? -ne 0 ]
verdict 'a full disk looks like success' $?
says 'a full disk' 'cannot write to standard output'

total
