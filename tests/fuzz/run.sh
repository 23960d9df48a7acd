#!/bin/sh
# run.sh SECONDS FOLDER [afl]: runs every fuzz target of FOLDER (fuzz_NAME, made by libFuzzer; with afl: afl_NAME, made
# by AFL++) for SECONDS seconds, JOBS (all processors) at a time, from the corpus in this folder, NAME.tar, and that of earlier
# runs in FOLDER/corpus, and prints a table. Status 1 on a finding; its input is then in FOLDER/findings/NAME-*. An input may
# take 10 seconds. The target work starts from the models of other targets, too. Without libFuzzer's
# entropic scheduling, which takes a third of the time, and without the stacks of allocations, the target tflite runs four times
# as many inputs.
set -u
seconds=$1 folder=$2 engine=${3:-fuzz}
here=$(dirname "$0")

run_fuzz() { # leaves runs, rate, kept
    mkdir -p "$folder/corpus/$target" "$folder/seeds/$target" "$folder/packed/$target" # an archive may be missing
    set -- "$folder/packed/$target" "$folder/seeds/$target"
    [ "$target" = work ] && set -- "$@" "$folder/packed/onnx" "$folder/packed/nnrt" "$folder/packed/builder"
    ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=0:quarantine_size_mb=4:allocator_release_to_os_interval_ms=-1} \
        "$folder/fuzz_$target" -entropic=0 -max_total_time="$seconds" -timeout=10 -malloc_limit_mb=256 -rss_limit_mb=2048 \
        -max_len=4096 -print_final_stats=1 -artifact_prefix="$folder/findings/$target-" "$folder/corpus/$target" \
        "$@" >"$log" 2>&1
    status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    kept=$(find "$folder/corpus/$target" -type f | wc -l)
}

# The settings are those for containers: no terminal, no core pattern, no frequency scaling, no processor of its own.
run_afl() {
    out=$folder/afl/$target
    rm -rf "$out"
    AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_SKIP_CPUFREQ=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1 AFL_NO_COLOR=1 \
        afl-fuzz -V "$seconds" -m none -t 10000 -i "$folder/packed/$target" -o "$out" "$folder/afl_$target" >"$log" 2>&1
    status=$?
    for f in "$out"/default/crashes/id* "$out"/default/hangs/id*; do
        [ -f "$f" ] && cp "$f" "$folder/findings/$target-afl-$(basename "$f" | cut -c4-9)"
    done
    runs=$(sed -n 's/^execs_done *: *//p' "$out/default/fuzzer_stats")
    rate=$(sed -n 's/^execs_per_sec *: *//p' "$out/default/fuzzer_stats")
    kept=$(sed -n 's/^corpus_count *: *//p' "$out/default/fuzzer_stats")
}

mkdir -p "$folder/findings" "$folder/afl"
rm -f "$folder/failed"
for archive in "$here"/corpus/*.tar; do
    name=$(basename "$archive" .tar)
    mkdir -p "$folder/packed/$name"
    tar -xf "$archive" -C "$folder/packed/$name" || exit 1
done
if [ "$engine" = fuzz ]; then
    # shellcheck disable=SC2086  # PYTHON may be several words
    ${PYTHON:-python3} "$here/make_seeds.py" "$folder/seeds" || echo "make_seeds.py failed: fewer seeds" >&2
fi
# Runs a target and prints its row; status 1 on a finding.
run() {
    target=$1
    log=$folder/$engine-$target.log
    rm -f "$folder/findings/$target"-*
    "run_$engine"
    found=$(find "$folder/findings" -name "$target-*" | wc -l)
    [ "$status" -ne 0 ] && [ "$found" -eq 0 ] && found=1
    printf '%s\t%s\t%s\t%s\t%s\n' "$target" "${runs:-0}" "${rate:-0}" "$kept" "$found"
    [ "$found" -eq 0 ] && return
    grep -aE '^fuzz:|FAILED|ERROR:|runtime error:|^SUMMARY|PROGRAM ABORT' "$log" | head -n 5
    return 1
}

printf 'target\texecutions\tper second\tcorpus\tfindings\n'
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)} names='' started=0
for source in "$here"/fuzz_*.c; do
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    [ -x "$folder/${engine}_$name" ] || continue
    names="$names $name"
    { run "$name" >"$folder/$name.row" || echo 1 >"$folder/failed"; } &
    started=$((started + 1))
    [ $((started % jobs)) -ne 0 ] || wait
done
wait
for name in $names; do
    cat "$folder/$name.row"
done
[ ! -e "$folder/failed" ]
