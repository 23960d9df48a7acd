#!/bin/sh
# test_emit.sh NNRT: what nnrt emit-c writes. The digits network and every ONNX node test that can be planned become C,
# compile without warnings as C99 and C++17, and give bit for bit what the session gave on this machine; a wrong bit is
# seen; only the kernels that a model needs are linked; wrong arguments are told. NNRT is the command line to test.
set -u
nnrt=$1
data=${NNRT_ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}
CC=${CC:-cc}
CXX=${CXX:-g++}
. "$(dirname "$0")/verdict.sh"
flags='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I. -O0'

# refuses STATUS TEXT ARGUMENT...: emit-c ends with this status, and says so in these words
refuses() {
    want=$1 text=$2
    shift 2
    "$nnrt" emit-c "$@" >"$folder/log" 2>&1
    got=$?
    if [ "$got" -eq "$want" ] && grep -q -e "$text" "$folder/log"; then
        pass
    else
        fail "emit-c $*: status $got, expected $want and '$text':"
        head -n 3 "$folder/log"
    fi
}

# program NAME FILE...: a C program that runs the self-test of each model, whose header is FILE
program() {
    name=$1
    shift
    {
        printf '#define NNRT_IMPLEMENTATION\n#include "nnrt.h"\n#include <stdio.h>\n'
        printf '#include "%s"\n' "$@"
        printf 'static uint64_t arena[1 << 20];\nint main(void)\n{\n    int wrong = 0;\n'
        for file in "$@"; do
            model=$(basename "$file" .h)
            upper=$(echo "$model" | tr '[:lower:]' '[:upper:]')
            printf '    if (%s_ARENA_BYTES > sizeof(arena) || %s_selftest(arena) != NNRT_SUCCESS)\n' "$upper" "$model"
            printf '        wrong += printf("%s\\n") > 0;\n' "$model"
        done
        printf '    return wrong > 0;\n}\n'
    } >"$folder/$name.c"
    cp "$folder/$name.c" "$folder/$name.cpp"
}

# ---- the digits network ----

digits=examples/digits/digits.onnx
holds 'digits are written' "$nnrt" emit-c $digits -o "$folder/digits.h" --name digits --input examples/digits/digit_7.png
program digits "$folder/digits.h"
# shellcheck disable=SC2086  # flags are several words
for extra in '' '-DNNRT_FIRMWARE' '-DNNRT_STATIC -DNNRT_FIRMWARE -DNNRT_MAX_RANK=4'; do
    holds "digits compile as C99 $extra" $CC -std=c99 $flags $extra -o "$folder/digits" "$folder/digits.c" -lm
    holds "digits give the same bits, C99 $extra" "$folder/digits"
    holds "digits compile as C++17 $extra" $CXX -std=c++17 $flags $extra -o "$folder/digits" "$folder/digits.cpp" -lm
    holds "digits give the same bits, C++17 $extra" "$folder/digits"
done

# before C++17 there are no hexadecimal floats
# shellcheck disable=SC2086
holds 'digits compile as C++11' $CXX -std=c++11 $flags -DNNRT_FIRMWARE -o "$folder/digits" "$folder/digits.cpp" -lm
holds 'digits give the same bits, C++11' "$folder/digits"

# one weight: the self-test must see it
sed '0,/digits_c1\[/b; 0,/ 0\.[0-9]*f/s/ 0\.\([0-9]*\)f/ 0.1\1f/' "$folder/digits.h" >"$folder/broken.h"
cmp -s "$folder/digits.h" "$folder/broken.h" && fail 'no weight was changed'
sed 's/digits\.h/broken.h/' "$folder/digits.c" >"$folder/broken.c"
# shellcheck disable=SC2086
holds 'the changed model compiles' $CC -std=c99 $flags -DNNRT_FIRMWARE -o "$folder/broken" "$folder/broken.c" -lm
if "$folder/broken" >/dev/null; then
    fail 'the self-test does not see a changed weight'
else
    pass
fi

# the typed entry, and the plan through the checked one; only the kernels of the model are linked
cat >"$folder/entry.c" <<'END'
#define NNRT_IMPLEMENTATION
#define NNRT_STATIC
#define NNRT_FIRMWARE
#include "nnrt.h"
#include "digits.h"
int main(void)
{
    static uint64_t workspace[DIGITS_ARENA_WORDS + 256];
    static const int32_t in[4] = {1, 1, 28, 28};
    static float image[784], direct[10], planned[10];
    NNRT_IOTensor x, y;
    nnrt_error error;
    for (int i = 0; i < 784; i++)
        image[i] = (float)(i % 29) / 29.0f;
    memset(&x, 0, sizeof(x));
    memset(&error, 0, sizeof(error));
    x.dataType = NNRT_DATA_TYPE_FLOAT32;
    x.format = NNRT_FORMAT_NCHW;
    x.dimensions = NNRT_Int32List_make(in, 4);
    x.data.fd = -1;
    x.data.addr = image;
    x.data.bufferSize = x.data.dataSize = sizeof(image);
    y = x;
    y.format = NNRT_FORMAT_NONE;
    y.dimensions.count = 0;
    y.data.addr = planned;
    y.data.bufferSize = y.data.dataSize = sizeof(planned);
    if (digits_run(image, direct) != NNRT_SUCCESS || nnrt_plan_workspace(digits_plan()) > sizeof(workspace) ||
        nnrt_plan_run(digits_plan(), workspace, sizeof(workspace), &x, 1, &y, 1, NULL, &error) != NNRT_SUCCESS)
        return 1;
    if (!nnrti_same(direct, planned, sizeof(direct)))
        return 2;
    x.data.dataSize--;
    if (nnrt_plan_run(digits_plan(), workspace, sizeof(workspace), &x, 1, &y, 1, NULL, &error) !=
        NNRT_INVALID_BUFFER_SIZE)
        return 3;
    return nnrt_plan_run(digits_plan(), workspace, 8, &x, 1, &y, 1, NULL, NULL) == NNRT_OUT_OF_MEMORY ? 0 : 4;
}
END
# shellcheck disable=SC2086
holds 'both entries compile' $CC -std=c99 $flags -Os -o "$folder/entry" "$folder/entry.c" -lm
holds 'both entries give the same bits' "$folder/entry"
nm "$folder/entry" >"$folder/symbols"
holds 'the kernels of the model are linked' grep -q conv2d_fusion_f32 "$folder/symbols"
for stranger in nnrt_gather nnrt_matmul_fusion_f32 nnrt_resize_f32 nnrti_ops nnrt_plan_build malloc printf; do
    if grep -q "\\b$stranger\\b" "$folder/symbols"; then
        fail "$stranger is linked, which the model does not need"
    else
        pass
    fi
done

# ---- every node test that can be planned ----

headers=''
count=0
left=0
for model in "$data"/node/test_*/model.onnx; do
    name=$(basename "$(dirname "$model")")
    if "$nnrt" emit-c "$model" -o "$folder/$name.h" --name "$name" >/dev/null 2>&1; then
        headers="$headers $name.h"
        count=$((count + 1))
    else
        left=$((left + 1))
        [ -e "$folder/$name.h" ] && fail "$name could not be written, but left a file"
    fi
done
if [ "$count" -ge 400 ]; then
    pass
else
    fail "$count node tests became C, expected at least 400"
fi
# shellcheck disable=SC2086
program nodes $headers
# shellcheck disable=SC2086
for how in "$CC -std=c99" "$CXX -std=c++17"; do
    file=$folder/nodes.c
    [ "$how" = "$CXX -std=c++17" ] && file=$folder/nodes.cpp
    holds "$count node tests compile with $how" $how $flags -DNNRT_FIRMWARE -I"$folder" -o "$folder/nodes" "$file" -lm
    if "$folder/nodes" >"$folder/wrong"; then
        passed=$((passed + count))
    else
        wrong=$(grep -c . "$folder/wrong")
        passed=$((passed + count - wrong))
        failed=$((failed + wrong))
        sed "s/^/FAIL other bits from C ($how): /" "$folder/wrong" | head -n 20
    fi
done
echo "$count node tests became C; $left cannot be imported or planned as they are, see the suite onnx-nodes"

# ---- arguments ----

refuses 2 'which model' -o "$folder/x.h"
refuses 2 'which file to write' $digits
refuses 2 'expected a C identifier' $digits -o "$folder/x.h" --name 7up
refuses 2 'expected a C identifier' $digits -o "$folder/x.h" --name nnrt_x
refuses 2 'expected a C identifier' $digits -o "$folder/x.h" --name int
refuses 2 'expected a C identifier' $digits -o "$folder/x.h" --name 'a b'
refuses 1 'cannot write' $digits -o "$folder/none/x.h"
refuses 1 'absent.onnx' "$folder/absent.onnx" -o "$folder/x.h"
if [ -w /dev/full ]; then
    refuses 1 'cannot write all of /dev/full' $digits -o /dev/full
    holds 'a device is left alone' test -c /dev/full
fi
[ -e "$folder/x.h" ] && fail 'a refused call left a file'
holds 'the name comes from the file' "$nnrt" emit-c $digits -o "$folder/named.h"
holds 'it is digits' grep -q 'digits_run(const float image\[784\], float probabilities\[10\])' "$folder/named.h"
holds 'a .nnrt file' "$nnrt" convert $digits "$folder/d.nnrt"
holds 'is written as well' "$nnrt" emit-c "$folder/d.nnrt" -o "$folder/d.h" --name digits --input examples/digits/digit_7.png
holds 'and gives the same C' cmp "$folder/d.h" "$folder/digits.h"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
