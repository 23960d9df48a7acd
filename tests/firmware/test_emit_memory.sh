#!/bin/sh
# test_emit_memory.sh: memory regions, sections and states of emitted C, by emit_memory.py, which prints the result.
# Arguments: emit.sh; implementation.o is beside NNRT.
set -u
. tests/firmware/emit.sh

# emit_memory.py also divides the models with subgraphs.
# shellcheck disable=SC2086  # flags are several words
holds 'a writer of models with subgraphs' $fast $flags -DNNRT_STATIC -o "$folder/write" tests/firmware/emit_subgraphs.c -lm
holds 'which writes them' "$folder/write" "$folder"
"$python" -B tests/firmware/emit_memory.py "$sanitized" "$(dirname "$nnrt")/implementation.o" "$folder" >"$folder/memory"
sed '$d' "$folder/memory"
counts=$(tail -n 1 "$folder/memory")
case $counts in
*' passed, '*' failed')
    passed=$((passed + ${counts%% *}))
    counts=${counts#*passed, }
    failed=$((failed + ${counts%% *}))
    ;;
*) fail "emit_memory.py ends with '$counts'" ;;
esac

total
