#!/bin/sh
# test_emit_control.sh: models with IF and LOOP as C, whose subgraphs run in the memory of the model. Arguments:
# emit.sh.
set -u
. tests/firmware/emit.sh

# tests/firmware/emit_subgraphs.c writes models with IF and LOOP, and is the program that runs them as C
# shellcheck disable=SC2086
holds 'a writer of models with subgraphs' $fast $flags -DNNRT_STATIC -o "$folder/write" tests/firmware/emit_subgraphs.c -lm
holds 'which writes them' "$folder/write" "$folder"
for name in nested swap sums until shared fault; do
    holds "$name becomes C" asks "$sanitized" emit-c "$folder/$name.nnrt" -o "$folder/$name.h" --name $name
done
# shellcheck disable=SC2086
{
    holds 'they compile as C99, a firmware with the sanitizers' $fast $flags $firmware -DEMITTED $checked \
        -o "$folder/subgraphs" tests/firmware/emit_subgraphs.c -lm
    holds 'and give what they mean' "$folder/subgraphs"
    holds 'they compile as C++17' $fastxx -x c++ $flags -DEMITTED -o "$folder/subgraphs" tests/firmware/emit_subgraphs.c -lm
    holds 'and give what they mean, C++17' "$folder/subgraphs"
    holds 'they compile as C99, a small firmware' $CC -std=c99 $flags -Os $firmware -DNNRT_MAX_RANK=4 \
        -DEMITTED -o "$folder/subgraphs" tests/firmware/emit_subgraphs.c -lm
    holds 'and give what they mean, small' "$folder/subgraphs"
}
nm "$folder/subgraphs" >"$folder/symbols"
holds 'their kernels are linked' grep -q nnrt_plan_loop "$folder/symbols"
lacks 'no other kernel is linked' "$folder/symbols" '\<conv2d_fusion_f32\>' '\<nnrti_ops\>' '\<nnrt_plan_build\>' '\<malloc\>'
# the same in two memory regions, of which the first has room for a part
for name in nested swap sums until shared; do
    holds "$name with regions" asks "$sanitized" emit-c "$folder/$name.nnrt" -o "$folder/$name.h" --name $name --region fast=48 --region slow=65536
    holds "$name has both" grep -q 'NNRT_REGION(1)' "$folder/$name.h"
done
# shellcheck disable=SC2086
{
    holds 'they compile with regions' $fast $flags $firmware -DEMITTED -DSPLIT $checked \
        -o "$folder/subgraphs" tests/firmware/emit_subgraphs.c -lm
    holds 'and give what they mean, with regions' "$folder/subgraphs"
    holds 'they compile with regions as C++17' $fastxx -x c++ $flags $firmware -DEMITTED -DSPLIT -o "$folder/subgraphs" \
        tests/firmware/emit_subgraphs.c -lm
    holds 'and give what they mean, with regions, C++17' "$folder/subgraphs"
}
refuses 1 'requires static shapes' "$folder/told.nnrt" -o "$folder/x.h" --region fast=48 --region slow=65536
refuses 1 "node 2 'unequal' (IF): it has dynamic dimensions; emit-c requires static shapes" \
    "$folder/told.nnrt" -o "$folder/x.h"
refuses 1 "node 1 'view' (RESHAPE): it is resolved with values of the run" "$folder/late.nnrt" -o "$folder/x.h"

total
