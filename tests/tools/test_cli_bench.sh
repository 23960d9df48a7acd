#!/bin/sh
# test_cli_bench.sh: nnrt bench, profiles and the log. Arguments: cli.sh.
set -u
. tests/tools/cli.sh
models

# ---- bench ----

t 0 'bench with threads that nothing uses' bench $digits/digits.onnx --reps 2 --threads 4
prints 'bench with threads that nothing uses' '^device .*, 1 thread$'
t 0 'bench with threads that nothing uses, JSON' bench $digits/digits.onnx --reps 2 --threads 4 --json
py 'bench with threads that nothing uses, JSON' 'd["threads"] == 1'
t 0 'bench with threads' bench $digits/digits.onnx --reps 20 --device cpu --threads 3
prints 'bench with threads' '^device    cpu_.*, 3 threads$'
silent 'bench with threads'
t 0 'bench with threads, JSON' bench $digits/digits.onnx --reps 2 --device cpu --device auto --threads 3 --json
py 'bench with threads, JSON' 'd["threads"] == 3'
t 0 'run with threads' run $digits/digits.onnx --device cpu --threads 2 --input $digits/digit_7.png --top 1
prints 'run with threads' '^  7  '
silent 'run with threads'
t 0 'bench' bench $digits/digits.onnx --reps 3
prints 'bench' '^run +min [0-9.]+ ms, median [0-9.]+ ms, p95 [0-9.]+ ms over 3 runs$'
silent 'bench'
t 0 'bench --json' bench $digits/digits.onnx --reps 20 --json --device reference
py 'bench --json: keys' 'set(d) == {"model", "device", "threads", "reps", "load_ms", "prepare_ms", "min_ms", "median_ms", "p95_ms", "arena_bytes", "weight_bytes"}'
py 'bench --json: figures' '0 < d["min_ms"] <= d["median_ms"] <= d["p95_ms"] and d["reps"] == 20 and d["load_ms"] > 0 and d["prepare_ms"] > 0 and d["weight_bytes"] >= 19258 * 4'
t 0 'bench with open extents' bench "$folder/open.onnx" --reps 2 --json
says 'bench with open extents' 'its batch is 1; --dim n=N sets it'

# ---- profiles ----

t 0 'run --profile' run $digits/digits.onnx --input random --top 1 --profile
silent 'run --profile'
prints 'run --profile: total' '^profile   [0-9.]+ us in 9 steps, a run of [0-9.]+ us$'
prints 'run --profile: device' '^device    reference_nnrt_v2_0$'
prints 'run --profile: a step' '^ +[0-9]+\.[0-9]  +[0-9]+\.[0-9]%  +3616  +37632  CONV2D_FUSION +conv1$'
prints 'run --profile: an operator' '^ +[0-9]+\.[0-9]  +[0-9]+\.[0-9]%  +3  MAX_POOL_FUSION$'
t 0 'run --profile --json' run $digits/digits.onnx --input random --profile="$folder/trace.json" --json
py 'profile: steps' '[s["operator"] for s in d["profile"]["steps"]] == ["CONV2D_FUSION", "MAX_POOL_FUSION"] * 3 + ["FULL_CONNECTION"] * 2 + ["SOFTMAX"]'
py 'profile: bytes' '[(s["read"], s["written"]) for s in d["profile"]["steps"]][:2] == [(4 * (28 * 28 + 12 * 9 + 12), 4 * 12 * 28 * 28), (4 * 12 * 28 * 28, 4 * 12 * 14 * 14)]'
py 'profile: times' 'all(s["calls"] == 1 and s["depth"] == 0 and 0 < s["ms"] == s["own_ms"] for s in d["profile"]["steps"]) and sum(s["ms"] for s in d["profile"]["steps"]) < d["profile"]["run_ms"] == d["run_ms"]'
py 'profile: sums' 'abs(sum(s["own_ms"] for s in d["profile"]["steps"]) - sum(o["own_ms"] for o in d["profile"]["operators"])) < 1e-4 and sum(o["steps"] for o in d["profile"]["operators"]) == 9 and [-o["own_ms"] for o in d["profile"]["operators"]] == sorted(-o["own_ms"] for o in d["profile"]["operators"])'
py 'profile: trace' 'trace("trace.json", d["profile"]["steps"]) == [s["operator"] for s in d["profile"]["steps"]]'
t 0 'run without a profile' run $digits/digits.onnx --input random --json
py 'run without a profile' '"profile" not in d'
t 0 'profile of a loop' run "$folder/loop.onnx" --input "$folder/one2.npy" --profile="$folder/loop.json" --json
py 'profile of a loop: result' 'd["outputs"][0]["top"][0]["value"] == 32'
py 'profile of a loop: rows' '[(s["operator"], s["depth"], s["calls"]) for s in d["profile"]["steps"] if s["operator"] in ("ADD_FUSION", "LOOP")] == [("ADD_FUSION", 1, 5), ("LOOP", 0, 1)]'
py 'profile of a loop: own time' 'loops(d["profile"]["steps"])'
py 'profile of a loop: trace' 'trace("loop.json", d["profile"]["steps"]).count("ADD_FUSION") == 5'
t 0 'profile of a loop, as a table' run "$folder/loop.onnx" --input "$folder/one2.npy" --profile
prints 'profile of a loop, as a table' '^ +[0-9.]+ +[0-9.]+% +80 +40    ADD_FUSION +[^ ]+  5 times$'
t 0 'bench --profile' bench $digits/digits.onnx --reps 4 --profile --json
py 'bench --profile' 'd["profile"]["runs"] == 4 and len(d["profile"]["steps"]) == 9 and all(s["calls"] == 1 for s in d["profile"]["steps"]) and d["min_ms"] <= d["profile"]["run_ms"] <= d["p95_ms"]'
t 0 'bench --profile as a table' bench $digits/digits.onnx --reps 4 --profile
prints 'bench --profile as a table' '^profile .*, the mean of 4$'
refused 2 'profile without a file' "--profile does not take ''" run model.onnx --profile=
refused 1 'trace that cannot be written' 'cannot write .*/no/t.json: No such file or directory$' run $digits/digits.onnx --input random --profile="$folder/no/t.json"
refused 2 'profile elsewhere' 'unknown option --profile' check model.onnx --profile

# ---- log ----

t 0 'run --log info' run "$folder/steps.onnx" --input "$folder/steps.npy" --log info
says 'run --log info: passes' '^nnrt: info: optimized: 3 nodes became 3$'
says 'run --log info: device' "^nnrt: info: device 'reference_nnrt_v2_0' has prepared the model\$"
says 'run --log info: session' "^nnrt: info: session on device 'auto_nnrt_v2_0': 3 steps, arena of [0-9]+ bytes, lower bound [0-9]+, constants 0, [0-9]+ bytes in all\$"
! grep -q 'debug: ' "$folder/err"
verdict 'run --log info: no lines of debug' $?
t 0 'run --log debug' run $digits/digits.onnx --input random --log debug
says 'run --log debug' "^nnrt: debug: node '[^']+' \(ACTIVATION\) is fused into the node before it\$"
t 0 'convert --log debug' convert $digits/digits.onnx "$folder/log.nnrt" --log debug
says 'convert --log debug' "is fused into the node before it\$"
t 0 'run --log warning' run "$folder/steps.onnx" --input "$folder/steps.npy" --log warning
silent 'run --log warning'
refused 2 'no such level' "--log does not take 'loud'" run model.onnx --log loud

t 0 'bench: random divisors' bench "$folder/divide.onnx" --reps 2
says 'bench: random divisors' 'note: the model divides by random integers: they are 1 to 7, not 0 to 7$'
prints 'bench: constants' '^constants 0 bytes, 0 of them used in place$'

total
