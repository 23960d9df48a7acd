#!/bin/sh
# test_emit_network.sh: the digits network as C in every way to compile it; a wrong bit is detected; only the kernels of
# the model are linked; wrong arguments are reported. Arguments: emit.sh.
set -u
. tests/firmware/emit.sh

picture=examples/digits/digit_7.png
holds 'digits are written' asks "$sanitized" emit-c $digits -o "$folder/digits.h" --name digits --input $picture
holds 'digits with --golden are written' asks "$sanitized" emit-c $digits -o "$folder/golden.h" --name golden --golden $picture
refuses 1 'takes 47040 bytes, the most at step .pool1' $digits -o "$folder/small.h" --arena 47039
holds 'an arena of that size is enough' asks "$sanitized" emit-c $digits -o "$folder/small.h" --arena 47040
refuses 2 'does not take' $digits -o "$folder/small.h" --arena many

# ---- the ways to compile it ----

cat >"$folder/digits.c" <<'END'
#define NNRT_IMPLEMENTATION
#include "nnrt.h"
#include "digits.h"
#include "golden.h"
#include <stdio.h>
int main(void)
{
    static uint64_t arena[DIGITS_ARENA_WORDS + GOLDEN_ARENA_WORDS];
    const char *node = "nothing was told";
    const NNRT_ReturnCode code = golden_selftest_node(arena, &node), same = golden_selftest(arena);
    printf("%d %d %s\n", (int)code, (int)same, node != NULL ? node : "none");
    return digits_selftest(arena) != NNRT_SUCCESS;
}
END
cp "$folder/digits.c" "$folder/digits.cpp"
# way TITLE SUFFIX COMPILER...: compiles it so, and runs it
way() {
    title=$1 suffix=$2
    shift 2
    # shellcheck disable=SC2086  # flags are several words
    holds "digits compile as $title" "$@" $flags -o "$folder/digits" "$folder/digits.$suffix" -lm
    holds "digits give the same bits, $title" "$folder/digits"
    grep -Fqx '0 0 none' "$folder/log"
    verdict "golden, $title: no node differs" $? "$folder/log"
}
# C++17 with all of nnrt.h is in the suites emit-control and emit-attributes.
# shellcheck disable=SC2086
{
    way 'C99' c $fast
    way 'C99, a firmware' c $fast -DNNRT_FIRMWARE
    way 'C99, a small firmware' c $fast $firmware -DNNRT_MAX_RANK=4
    [ -z "${NNRT_LONG:-}" ] || way 'C++17, a small firmware' cpp $fastxx $firmware -DNNRT_MAX_RANK=4
    way 'C++11, a firmware, before hexadecimal floats' cpp clang++ -std=c++11 -DNNRT_FIRMWARE
}

# ---- what the self-test sees ----

# One weight of digits; and with --golden the first node whose results differ: that of the changed weight, that whose
# expected checksum is another one, an output.

# changed NAME FILE: NAME.h, from standard input, is another header than FILE.h; its model has the name NAME
changed() {
    cat >"$folder/log"
    ! cmp -s "$folder/log" "$folder/$2.h"
    verdict "$1.h is another header than $2.h" $?
    sed "s/$2/$1/g; s/$(echo "$2" | tr '[:lower:]' '[:upper:]')/$(echo "$1" | tr '[:lower:]' '[:upper:]')/g" "$folder/log" >"$folder/$1.h"
}
sed '0,/digits_c1\[/b; 0,/ 0\.[0-9]*f/s/ 0\.\([0-9]*\)f/ 0.1\1f/' "$folder/digits.h" >"$folder/new"
changed broken digits <"$folder/new"
sed '/^\/\* conv2, input 1/,/};/{0,/ 0\.[0-9]/s/\([ -]\)0\.\([0-9]*\)f/\10.1\2f/}' "$folder/golden.h" >"$folder/new"
changed weight golden <"$folder/new"
awk '/_sums\[/ { print; getline; n = split($0, x, ", "); x[4] = "0x0u"; for (i = 1; i < n; i++) printf "%s, ", x[i]; print x[n]; next } { print }' \
    "$folder/golden.h" >"$folder/new"
changed checksum golden <"$folder/new"
sed 's/nnrti_bytes_equal(y0, golden_y0, 40)/nnrti_bytes_equal(y0, golden_y0 + 1, 36)/' "$folder/golden.h" >"$folder/new"
changed output golden <"$folder/new"
cat >"$folder/changed.c" <<'END'
#define NNRT_IMPLEMENTATION
#include "nnrt.h"
#include "broken.h"
#include "weight.h"
#include "checksum.h"
#include "output.h"
#include <stdio.h>
static uint64_t arena[BROKEN_ARENA_WORDS + WEIGHT_ARENA_WORDS];
static void told(const char *name, NNRT_ReturnCode code, NNRT_ReturnCode same, const char *node)
{
    printf("%s %d %d %s\n", name, (int)code, (int)same, node != NULL ? node : "none");
}
int main(void)
{
    const char *node = NULL;
    NNRT_ReturnCode code = broken_selftest(arena);
    told("broken", code, code, node);
    code = weight_selftest_node(arena, &node);
    told("weight", code, weight_selftest(arena), node);
    code = checksum_selftest_node(arena, &node);
    told("checksum", code, checksum_selftest(arena), node);
    code = output_selftest_node(arena, &node);
    told("output", code, output_selftest(arena), node);
    return 0;
}
END
# shellcheck disable=SC2086
holds 'the changed models compile' $fast $flags $firmware -o "$folder/changed" "$folder/changed.c" -lm
"$folder/changed" >"$folder/told"
for line in 'broken 1 1 none' "weight 1 1 node 2 'conv2' (CONV2D_FUSION)" "checksum 1 1 node 3 'pool2' (MAX_POOL_FUSION)" \
    'output 1 1 output 0'; do
    grep -Fqx -e "$line" "$folder/told"
    verdict "the self-test sees the change: $line" $? "$folder/told"
done
# the last checksum is that of the output, as FNV-1a is defined
holds 'the output of digits' asks "$sanitized" run $digits --input $picture --output-dir "$folder/probabilities"
holds 'the checksum of the output' "$python" -c '
import re, sys
data, text = open(sys.argv[1], "rb").read()[-40:], open(sys.argv[2]).read()
h = 2166136261
for b in data:
    h = (h ^ b) * 16777619 & 0xffffffff
sums = re.search(r"golden_sums\[9\] = \{([^}]*)\}", text).group(1).split(",")
sys.exit(0 if int(sums[8].strip().rstrip("u"), 16) == h else 1)' "$folder/probabilities/probabilities.npy" "$folder/golden.h"

# ---- entries and symbols ----

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
    if (!nnrti_bytes_equal(direct, planned, sizeof(direct)))
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
lacks 'no other kernel is linked' "$folder/symbols" '\<nnrt_gather\>' '\<nnrt_matmul_fusion_f32\>' '\<nnrt_resize_f32\>' \
    '\<nnrt_plan_if\>' '\<nnrt_plan_loop\>' '\<nnrti_ops\>' '\<nnrt_plan_build\>' '\<malloc\>' '\<printf\>'

# ---- arguments ----

refuses 2 'the model is missing' -o "$folder/x.h"
refuses 2 'the output file is missing' $digits
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
holds 'the name comes from the file' asks "$sanitized" emit-c $digits -o "$folder/named.h"
holds 'it is digits' grep -q 'digits_run(const float image\[784\], float probabilities\[10\])' "$folder/named.h"
holds 'a .nnrt file' asks "$sanitized" convert $digits "$folder/d.nnrt"
holds 'is written as well' asks "$sanitized" emit-c "$folder/d.nnrt" -o "$folder/d.h" --name digits --input $picture
holds 'and gives the same C' cmp "$folder/d.h" "$folder/digits.h"


total
