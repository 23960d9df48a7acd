#!/bin/sh
# run.sh SECONDS FOLDER: runs every fuzz target of FOLDER (fuzz_NAME, made by libFuzzer) for SECONDS seconds, from the
# corpus beside this file and what earlier runs left in FOLDER/corpus, and prints a table. Status 1 on a finding; the
# bytes are then in FOLDER/findings/NAME-*. An input may take 10 seconds.
set -u
seconds=$1 folder=$2
here=$(dirname "$0")
findings=0
mkdir -p "$folder/findings"
# shellcheck disable=SC2086  # PYTHON may be several words
${PYTHON:-python3} "$here/make_seeds.py" "$folder/seeds" 2>/dev/null || true
printf 'target\texecutions\tper second\tcorpus\tfindings\n'
for source in "$here"/fuzz_*.c; do
    target=$(basename "$source" .c)
    target=${target#fuzz_}
    log=$folder/$target.log
    mkdir -p "$folder/corpus/$target" "$folder/seeds/$target" "$here/corpus/$target"
    rm -f "$folder/findings/$target"-*
    "$folder/fuzz_$target" -max_total_time="$seconds" -timeout=10 -malloc_limit_mb=256 -rss_limit_mb=2048 \
        -max_len=4096 -print_final_stats=1 -artifact_prefix="$folder/findings/$target-" "$folder/corpus/$target" \
        "$here/corpus/$target" "$folder/seeds/$target" >"$log" 2>&1
    status=$?
    found=$(find "$folder/findings" -name "$target-*" | wc -l)
    [ "$status" -ne 0 ] && [ "$found" -eq 0 ] && found=1
    findings=$((findings + found))
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    kept=$(find "$folder/corpus/$target" -type f | wc -l)
    printf '%s\t%s\t%s\t%s\t%s\n' "$target" "${runs:-0}" "${rate:-0}" "$kept" "$found"
    [ "$found" -gt 0 ] && grep -E '^fuzz:|ERROR:|runtime error:|^SUMMARY' "$log" | head -n 5
done
[ "$findings" -eq 0 ]
