#!/bin/sh
# test_bench.sh FOLDER: make bench with FOLDER/bench: its program, tables and page. How long anything takes does not
# matter.
set -u
. tests/tools/examples.sh

# bench NAME STATUS ARGUMENT... : no other library, nothing is fetched; how long anything takes does not matter
bench() {
    title=$1 wanted=$2
    shift 2
    expect "bench $title" "$wanted" "$python" -B tests/bench/bench.py --driver "$bin/bench" --out "$folder/bench" --peers no "$@"
}

bench 'of a network and a layer' 0 --nets lenet --layers matmul_64 --seconds 0.05 --devices 'cpu reference'
shows 'bench: the network with one thread, and how far it is from the reference device' out '^lenet +1 +[0-9.]+ .* [0-9]\.[0-9]e-0[6-9] '
shows 'bench: the layer with one thread' out '^matmul_64 +1 +[0-9.]+ '
shows 'bench: peaks' out '^memory, read, GB/s +[0-9]+ +[0-9]+$'
shows 'bench: who is absent' out '^absent: ONNX Runtime: not asked for$'
shows 'bench: who is absent' out '^absent: onednn: not asked for$'
shows 'bench: what was not measured' out '^ResNet-18 by ONNX Runtime at most 0\.65 +not measured +-$'
shows 'bench: no difference to who is absent' out '^Largest relative difference to ONNX Runtime, .* +not measured +-$'
shows 'bench: what was measured' out '^LeNet, ms to load, prepare and run once: at most 0\.100 +(not )?met +lenet\.onnx [0-9.]+, lenet\.nnrt [0-9.]+, lenet\.packed\.nnrt [0-9.]+$'
rounds=$(grep -c '^time.matmul_64.1.nnrt reference' "$folder/bench/results.tsv")
[ "$rounds" -eq 7 ] || [ "$rounds" -eq 3 ]
verdict 'bench: seven rounds, three of who takes long' $?
"$python" - "$folder/bench/report.html" <<'END'
import html.parser, sys
class Page(html.parser.HTMLParser):
    open, seen, bad = [], [], []
    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.bad += [v for k, v in attributes if k in ("src", "href") or "//" in (v or "")]
        if tag != "meta":
            self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)
    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad.append(tag)
page, text = Page(), open(sys.argv[1], encoding="utf-8").read()
page.feed(text)
sys.exit(bool(page.bad or page.open or "url(" in text or "prefers-color-scheme: dark" not in text
              or not {"svg", "rect", "circle", "table"} <= set(page.seen)))
END
verdict 'bench: a page that is whole, and needs nothing else' $?

# Tables of given figures, worked by hand. Times in milliseconds: 2, 2.4 and 2.8 by 4; 10^6 multiply-adds.
{
    printf 'model\tresnet18\tfloat\t1000000\t1000\nflops\t1\tAVX-512\t2e9\nmachine\tprocessor\t<b>&\n'
    for round in '0 2e-3' '1 2.4e-3' '2 2.8e-3'; do
        printf 'time\tresnet18\t1\t%s\t%s\t%s\t%s\t5\n' 'nnrt cpu' "${round% *}" "${round#* }" "${round#* }" \
            'ONNX Runtime' "${round% *}" 4e-3 4e-3
    done
    printf 'error\tresnet18\t1\tnnrt cpu\t2e-5\n'
} >"$folder/figures.tsv"
bench '--from' 0 --from "$folder/figures.tsv"
# the least is 2 ms, half of the peak; XNNPACK takes 14.93 where ONNX Runtime takes 15.45
shows 'bench --from: ratio, quartiles, the best other' out '^resnet18 +1 +2\.4000 +4\.0000 +0\.60 \(0\.55-0\.65\) +0\.62 +1\.0 +50\.0 +2\.0e-05 +- +-$'
shows 'bench --from: a target' out '^ResNet-18 by ONNX Runtime at most 0\.65 +met +resnet18 1T 0\.60$'
shows 'bench --from: all of them' out '^Each of the ten by the quickest other at most 1\.00 +not measured +resnet18 1T 0\.62$'
shows 'bench --from: nine other networks are missing' out '^Largest relative difference to ONNX Runtime, .* +not measured +resnet18 1T 2\.0e-05$'
grep -q '&lt;b&gt;&amp;' "$folder/bench/report.html" && ! grep -q '<b>' "$folder/bench/report.html"
verdict 'bench --from: what is in a file is text' $?
printf 'time\tresnet18\t1\n' >"$folder/short.tsv"
bench '--from a file that is short' 2 --from "$folder/short.tsv"
shows 'bench --from a file that is short' err '^bench: .*short\.tsv: line 1 is not one of the benchmark$'
bench '--from no file' 2 --from "$folder/none.tsv"
bench 'of no network' 2 --nets nothing
shows 'bench of no network' err "^bench: --nets: no 'nothing' among .*lenet"
bench '--seconds x' 2 --seconds x
bench '--threads 0' 2 --threads '1 0'
bench '--nonsense' 2 --nonsense
bench '--help' 0 --help
expect 'bench of no plan' 2 "$bin/bench"
expect 'bench of a plan that is not there' 1 "$bin/bench" --seconds 0.01 "$folder/none"
printf 'lenet\tfloat\n' >"$folder/plan"
expect 'bench of a plan that is none' 1 "$bin/bench" --seconds 0.01 "$folder/plan"
shows 'bench of a plan that is none' err 'plan:1: not a line of a plan$'

# make bench-operators of one operator, without ONNX Runtime: rows, page, figures
operators() {
    title=$1 wanted=$2
    shift 2
    expect "operators $title" "$wanted" "$python" -B tests/bench/operators.py --driver "$bin/bench_operators" --out "$folder/operators" --peers no "$@"
}

printf 'figure\tsubject\noperators-summary\told\n' >"$folder/operators.figures"
operators 'of one operator' 0 --seconds 0.01 --figures "$folder/operators.figures" CEIL
shows 'operators: a type with its kernel' out '^CEIL +float32 +unary +[0-9.]+ +[0-9.]+ +[0-9.]+ '
shows 'operators: a reference kernel' out '^CEIL +float64 +nnrt_ceil_f64 +[0-9.]+ +[0-9.]+ +[0-9.]+ .* not asked$'
shows 'operators: rows' out '^ +3  rows: operators and element types$'
[ "$(grep -c '^operators-roofline	CEIL | float' "$folder/operators.figures")" -eq 3 ] && ! grep -q old "$folder/operators.figures"
verdict 'operators --figures: replaces the old ones' $?
grep -q '<td>CEIL</td>' "$folder/operators/report.html"
verdict 'operators: a page' $?
operators 'of none' 2 --seconds 0.01 NOTHING
shows 'operators: of none' err "there is no operator 'NOTHING'"
operators '--seconds 0' 2 --seconds 0 CEIL

# Given figures, in seconds: a roofline of 1e-6, 4e-6 with fixed, 5e-6 with dynamic dimensions, ONNX Runtime 8e-6; a slower row
{
    printf '# a machine, 2026-11-30\n'
    printf '7\tONE\tint8\tunary\tunary\t0\t8\t1e-6\t4e-6\t5e-6\t8e-6\t-\n'
    printf '8\tTWO\tint8\tnnrt_two\tnnrt_two\t0\t8\t1e-6\t9e-6\t-\t-\t<no kernel>\n'
} >"$folder/operators.tsv"
operators '--from' 0 --from "$folder/operators.tsv"
shows 'operators --from: times in microseconds, ratios to the roofline and to ONNX Runtime' out '^ONE +int8 +unary +1\.00 +4\.00 +5\.00 +5\.0 +8\.00 +0\.50$'
shows 'operators --from: rows with a reference kernel' out '^ +1  rows with a step by a reference kernel$'
[ "$(grep -n '^TWO ' "$folder/out" | cut -d: -f1)" -lt "$(grep -n '^ONE ' "$folder/out" | cut -d: -f1)" ]
verdict 'operators --from: the slowest first' $?
grep -q '&lt;no kernel&gt;' "$folder/operators/report.html"
verdict 'operators --from: text of the file is text' $?
printf '7\tONE\n' >"$folder/short.tsv"
operators '--from a file that is short' 2 --from "$folder/short.tsv"
shows 'operators --from a file that is short' err 'short\.tsv: line 1 is none of this benchmark$'

total
