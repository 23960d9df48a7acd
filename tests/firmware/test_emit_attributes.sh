#!/bin/sh
# test_emit_attributes.sh: attributes of every kind as C, and in files that a firmware loads. Arguments: emit.sh.
set -u
. tests/firmware/emit.sh

# An operator of the tests has them: with it the command line, which also writes a model of it, and a program that
# compares its attributes in C.
cat >"$folder/values.h" <<'END'
static NNRT_EveryKind values(void)
{
    static const int64_t ints[] = {1, -2, INT32_MAX}, large[] = {INT64_MIN, INT64_MAX};
    static const float reals[] = {0.1f, INFINITY, -INFINITY, NAN, -1e-30f};
    static NNRT_Int64List lists[2];
    NNRT_EveryKind a;
    nnrt_attr_defaults(nnrt_op_find(NNRT_NODE_TYPE_EVERY_KIND)->attr, &a);
    lists[0] = nnrt_int64_list(ints, 2);
    a.flag = false;
    a.number = INT32_MIN;
    a.large = INT64_MIN;
    a.real = -INFINITY;
    a.precise = 1.0 / 3;
    a.type = NNRT_DATA_TYPE_UINT8;
    a.wideType = NNRT_DATA_TYPE_FLOAT64;
    a.mode = "a \"text\" \\ of 1\t\x01" "2 ?\?/ \xc3\xa9";
    a.ints = nnrt_int64_list(ints, 3);
    a.large2 = nnrt_int64_list(large, 2);
    a.lists.data = lists;
    a.lists.count = 2;
    a.reals = nnrt_float_list(reals, 5);
    return a;
}
END
cat >"$folder/every.c" <<'END'
#define NNRT_TOOL_NO_MAIN
#include "tools/nnrt.c"
#include "values.h"
static int write_model(const char *path)
{
    static const int32_t dims[] = {2};
    const NNRT_EveryKind a = values();
    nnrt_builder *b = NULL;
    NNRT_Model *m = NULL;
    uint32_t x;
    if (nnrt_builder_create(&b, "every", NULL) != NNRT_SUCCESS)
        return 1;
    x = nnrt_builder_input(b, "x", NNRT_DATA_TYPE_FLOAT32, 1, dims);
    x = nnrt_builder_op(b, "y", NNRT_NODE_TYPE_EVERY_KIND, &a, &x, 1);
    nnrt_builder_output(b, nnrt_builder_op(b, "z", NNRT_NODE_TYPE_EVERY_KIND, NULL, &x, 1));
    return nnrt_builder_finish(b, &m, NULL) != NNRT_SUCCESS || nnrt_model_save(m, path, NULL, NULL) != NNRT_SUCCESS;
}
int main(int argc, char **argv)
{
    return argc == 3 && strcmp(argv[1], "write") == 0 ? write_model(argv[2]) : cli_program(argc, argv);
}
END
cat >"$folder/compare.c" <<'END'
#define NNRT_IMPLEMENTATION
#include "nnrt.h"
#include "values.h"
#include "every.h"
int main(void)
{
    static uint64_t arena[EVERY_ARENA_WORDS + 1];
    const nnrt_attr_struct *s = nnrt_op_named("EVERY_KIND")->attr;
    const NNRT_EveryKind a = values();
    NNRT_EveryKind defaults;
    nnrt_attr_defaults(s, &defaults);
    return nnrt_attr_equal(s, &every_a0, &a) && nnrt_attr_equal(s, &every_a1, &defaults) &&
                   every_selftest(arena) == NNRT_SUCCESS
               ? 0
               : 1;
}
END
cat >"$folder/load.c" <<'END'
#define NNRT_IMPLEMENTATION
#define NNRT_FIRMWARE
#include "nnrt.h"
#include "values.h"
#include <stdio.h>
int main(int argc, char **argv)
{
    static uint64_t file[1024], buffer[2048];
    const NNRT_EveryKind a = values();
    NNRT_EveryKind defaults;
    const nnrt_attr_struct *s = nnrt_op_find(NNRT_NODE_TYPE_EVERY_KIND)->attr;
    NNRT_ModelConfig config;
    nnrt_memory memory;
    NNRT_Model *m;
    nnrt_plan *plan;
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    size_t bytes = f != NULL ? fread(file, 1, sizeof(file), f) : 0;
    memset(&config, 0, sizeof(config));
    nnrt_attr_defaults(s, &defaults);
    nnrt_memory_buffer(&memory, buffer, sizeof(buffer));
    if (nnrt_model_load_into(&m, file, bytes, true, &memory, NULL) != NNRT_SUCCESS ||
        !nnrt_attr_equal(s, &a, m->nodes.data[0].nodeAttr.data) ||
        !nnrt_attr_equal(s, &defaults, m->nodes.data[1].nodeAttr.data) ||
        nnrt_plan_build(m, &config, &memory, &plan) != NNRT_SUCCESS || plan->nSteps != 2 ||
        !nnrt_attr_equal(s, &a, plan->steps[0].attr) || plan->steps[0].attr == m->nodes.data[0].nodeAttr.data)
        return 1;
    return fclose(f);
}
END
cp "$folder/compare.c" "$folder/compare.cpp"
every="$flags -include tests/kit/every_kind.h -DNNRT_STATIC"
# shellcheck disable=SC2086
{
    # with the kernels of the device cpu for these instructions, which nothing here calls, it takes three times as long
    holds 'the command line with an operator of the tests' $fast $every -DNNRT_CPU_AVX512=0 -DNNRT_CPU_AVX2=0 -o "$folder/every" "$folder/every.c" -lm
    holds 'a model of it is written' "$folder/every" write "$folder/every.nnrt"
    holds 'info reads it' "$folder/every" info "$folder/every.nnrt"
    holds 'it becomes C' "$folder/every" emit-c "$folder/every.nnrt" -o "$folder/every.h" --name every
    holds 'compiles as C99' $fast $every -o "$folder/compare" "$folder/compare.c" -lm
    holds 'and has its attributes, C99' "$folder/compare"
    holds 'compiles as C++17' $fastxx $every -o "$folder/compare" "$folder/compare.cpp" -lm
    holds 'and has its attributes, C++17' "$folder/compare"
}
# shellcheck disable=SC2086
for extra in '' '-DNNRT_SELECT -DNNRT_KEEP_EVERY_KIND=1'; do
    holds "a firmware compiles, $extra" $fast $every $extra -Wno-unused-const-variable -o "$folder/load" "$folder/load.c" -lm
    holds "and loads it, $extra" "$folder/load" "$folder/every.nnrt"
done
holds 'types have their names' grep -q '^    44, /\* wideType float64 \*/$' "$folder/every.h"
holds 'and so do enumerators' grep -q '^    1, /\* padMode SAME \*/$' "$folder/every.h"

total
