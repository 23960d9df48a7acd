#!/bin/sh
# cli.sh NATIVE LITTLE COMMAND... : the command line of another machine against this machine's. NATIVE is this
# machine's build/nnrt, COMMAND runs the other one, LITTLE is 1 if that machine is little-endian. Results must be
# bit-identical, and written files equal; a big-endian machine must reject .nnrt files with a message.
set -u
cd "$(dirname "$0")/../../.." || exit 1
native=$1 little=$2
shift 2
digits=examples/digits
tmp=$(mktemp -d build/cross_XXXXXX) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

check() { # WHAT COMMAND...
    what=$1
    shift
    if "$@" >"$tmp/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $what: $*"
        tail -n 3 "$tmp/log" | cut -c 1-300
    fi
}

# same_npy A B: the same shape, type and bits, whatever the order of the bytes in the files
same_npy() {
    "${PYTHON:-/usr/bin/python3}" - "$1" "$2" <<'END'
import ast, struct, sys

def read(path):
    data = open(path, 'rb').read()
    end = 10 + struct.unpack('<H', data[8:10])[0]
    head = ast.literal_eval(data[10:end].decode())
    width = int(head['descr'][2:])
    values = [data[i:i + width] for i in range(end, len(data), width)]
    return head['shape'], head['descr'][1:], [v[::-1] if head['descr'][0] == '>' else v for v in values]

a, b = read(sys.argv[1]), read(sys.argv[2])
print(a[0], a[1], b[0], b[1])
sys.exit(0 if a == b and len(a[2]) == 10 else 1)
END
}

# refused PATTERN COMMAND...: status 1 and one line of message that matches
refused() {
    pattern=$1
    shift
    "$@" >"$tmp/out" 2>"$tmp/err"
    [ $? -eq 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q -e "$pattern" "$tmp/err"
}

says() { # PATTERN COMMAND...
    pattern=$1
    shift
    "$@" | grep -q -e "$pattern"
}

for n in 0 1 2 3 4 5 6 7 8 9; do
    "$native" run $digits/digits.onnx --input $digits/digit_$n.png --output-dir "$tmp/here" >"$tmp/here.txt" 2>&1
    check "digit $n" "$@" run $digits/digits.onnx --input $digits/digit_$n.png --output-dir "$tmp/there"
    check "digit $n: bits" same_npy "$tmp/here/probabilities.npy" "$tmp/there/probabilities.npy"
    rm -rf "$tmp/here" "$tmp/there"
done
"$native" run $digits/digits.onnx --input random:7 --output-dir "$tmp/here" >"$tmp/here.txt" 2>&1
check 'random' "$@" run $digits/digits.onnx --input random:7 --output-dir "$tmp/there"
check 'random: bits' same_npy "$tmp/here/probabilities.npy" "$tmp/there/probabilities.npy"
check 'info' says '^input       image  float32\[1,1,28,28\]' "$@" info $digits/digits.onnx
check 'devices' says 'the same bits here as everywhere' "$@" devices

"$native" convert $digits/digits.onnx "$tmp/here.nnrt" --meta note=x >"$tmp/log" 2>&1
if [ "$little" = 1 ]; then
    check 'convert' "$@" convert $digits/digits.onnx "$tmp/there.nnrt" --meta note=x
    check 'convert: bytes' cmp "$tmp/here.nnrt" "$tmp/there.nnrt"
    check '.nnrt file of another machine' "$@" run "$tmp/here.nnrt" --input random:7 --output-dir "$tmp/file"
    check '.nnrt file: bits' same_npy "$tmp/here/probabilities.npy" "$tmp/file/probabilities.npy"
else
    check 'convert is refused' refused 'a big-endian machine cannot write .nnrt files' \
        "$@" convert $digits/digits.onnx "$tmp/there.nnrt"
    check 'convert leaves nothing' [ ! -e "$tmp/there.nnrt" ]
    check 'a .nnrt file is refused' refused 'a big-endian machine cannot use .nnrt files' \
        "$@" run "$tmp/here.nnrt" --input random:7
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
