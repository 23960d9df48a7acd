"""The output of bench.c, as tables of text and as a page. Part of tests/bench/bench.py.

    >>results   the figures of a file
        >>targets   targets of nnrt
    >>text      tables
    >>page      the same to look at
"""
import html
import math
import os
import platform
import statistics

import models

ORT = "ONNX Runtime"
# in which they are shown; other devices come first
ORDER = ["nnrt cpu", "nnrt reference", ORT, "OpenBLAS", "oneDNN", "oneDNN Winograd", "XNNPACK"]
PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers.tsv")

# ----------------------------------------------------------------------------------------------------------------------
# >>results


def processor():
    """The machine in words."""
    name = platform.processor() or platform.machine()
    flags = []
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            lines = f.read().splitlines()
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
        flags = next((line.split(":", 1)[1].split() for line in lines if line.startswith("flags")), [])
    except OSError:
        pass
    sets = [text for flag, text in (("avx2", "AVX2"), ("avx512f", "AVX-512"), ("avx512_vnni", "VNNI")) if flag in flags]
    return "%s, %s, %d cores%s" % (name, platform.machine(), os.cpu_count() or 1, "".join(", " + s for s in sets))


class Spread:
    """A median with its quartiles."""

    def __init__(self, values):
        values = sorted(values)
        self.median = statistics.median(values)
        self.low = self.high = self.median
        if len(values) > 1:
            self.low, _, self.high = statistics.quantiles(values, n=4, method="inclusive")

    def text(self, form="%.2f"):
        return (form + " (" + form + "-" + form + ")") % (self.median, self.low, self.high)


class Results:
    """A results.tsv. Raises ValueError."""

    def __init__(self, path):
        self.machine, self.absent, self.missing, self.models = {}, {}, [], {}
        self.flops, self.levels, self.peaks, self.prepare, self.errors = {}, {}, {}, {}, {}
        self.times, self.starts = {}, []
        with open(path, encoding="utf-8", errors="replace") as f:
            for number, line in enumerate(f, 1):
                kind, *fields = line.rstrip("\n").split("\t")
                try:
                    getattr(self, "read_" + kind)(*fields)
                except (AttributeError, TypeError, ValueError):
                    raise ValueError("line %d is not one of the benchmark" % number) from None
        self.threads = sorted({t for _, t, _ in self.times})
        self.whos = sorted({who for _, _, who in self.times}, key=lambda w: (ORDER.index(w) if w in ORDER else -1, w))
        self.ours = next((w for w in ("nnrt cpu", "nnrt reference") if w in self.whos),
                         next((w for w in self.whos if w.startswith("nnrt ")), None))
        self.others = read_peers()

    def read_machine(self, key, value):
        self.machine[key] = value

    def read_absent(self, who, why):
        self.absent[who] = why

    def read_missing(self, model, threads, who, why):
        self.missing.append((model, int(threads), who, why))

    def read_model(self, name, kind, macs, moved):
        self.models[name] = kind, int(macs), int(moved)

    def read_flops(self, threads, isa, value):
        self.flops[int(threads), isa] = float(value)

    def read_level(self, threads, name, capacity, each, rate):
        self.levels.setdefault(int(threads), []).append((name, int(capacity), each == "1", float(rate)))

    def read_peak(self, model, threads, value):
        self.peaks[model, int(threads)] = float(value)

    def read_prepare(self, model, threads, who, seconds):
        self.prepare[model, int(threads), who] = float(seconds)

    def read_error(self, model, threads, who, error):
        self.errors[model, int(threads), who] = float(error)

    def read_time(self, model, threads, who, turn, median, least, runs):
        self.times.setdefault((model, int(threads), who), {})[int(turn)] = float(median), float(least), int(runs)

    def read_start(self, device, path, *figures):
        names = ("load", "prepare", "first", "allocated", "constants", "file", "rss")
        self.starts.append(dict(zip(names, map(float, figures), strict=True), device=device, path=path))

    def median(self, model, threads, who):
        """Seconds of a run: the median of the rounds' medians; None: it was not run."""
        rounds = self.times.get((model, threads, who))
        return statistics.median(m for m, _, _ in rounds.values()) if rounds else None

    def ratio(self, model, threads, who, other):
        """Of the times of two in the same rounds; None: one was not run."""
        a, b = self.times.get((model, threads, who), {}), self.times.get((model, threads, other), {})
        both = [a[r][0] / b[r][0] for r in a if r in b]
        return Spread(both) if both else None

    def rate(self, model, threads, who):
        """Operations a second, of the least time; None: it was not run, or has no multiply-adds."""
        rounds = self.times.get((model, threads, who))
        macs = self.models[model][1]
        return 2 * macs / min(least for _, least, _ in rounds.values()) if rounds and macs else None

    def peak(self, threads, int8=False):
        """The most operations a second that were ever measured with so many threads, or fewer; None: none were."""
        found = [v for (t, isa), v in self.flops.items() if t <= threads and isa.endswith("int8") == int8]
        found += [v for (_, t), v in self.peaks.items() if t <= threads and not int8]
        return max(found, default=None)

    def share(self, model, threads, who):
        """Of that peak."""
        rate, peak = self.rate(model, threads, who), self.peak(threads, self.models[model][0] == "int8")
        return rate / peak if rate and peak else None

    def of_kind(self, *kinds):
        return [name for name, (kind, _, _) in self.models.items() if kind in kinds]

    def to_other(self, model, threads, other):
        """Our time divided by the time of XNNPACK or ncnn, estimated from their ratio to ONNX Runtime on another machine."""
        ratio = self.ratio(model, threads, self.ours, ORT)
        their = self.others.get((model, threads), {}).get(other)
        return ratio.median / their if ratio and their else None

    def to_best(self, model, threads):
        """Our time by that of the quickest other."""
        ratio = self.ratio(model, threads, self.ours, ORT)
        return ratio.median / min([1.0, *self.others.get((model, threads), {}).values()]) if ratio else None


def read_peers():
    """{(network, threads): {library: its time by ONNX Runtime's}} of peers.tsv."""
    found = {}
    with open(PEERS, encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    for model, threads, ort, ncnn, xnnpack in rows:
        both = (("ncnn", ncnn), ("XNNPACK", xnnpack))
        found[model, int(threads)] = {name: float(value) / float(ort) for name, value in both if value != "-"}
    return found


# ----------------------------------------------------------------------------------------------------------------------
# >>targets

MET, MISSED, UNKNOWN = "met", "not met", "not measured"


class Target:
    """A target. values: (label, value or None); the bound holds for each."""

    def __init__(self, text, bound, values, form="%.2f", at_least=False):
        self.text = "%s %s %s" % (text, "at least" if at_least else "at most", form % bound)
        known = [(label, v) for label, v in values if v is not None]
        good = [v >= bound if at_least else v <= bound for _, v in known]
        self.verdict = MISSED if not all(good) else UNKNOWN if len(known) < len(values) or not values else MET
        # of many the worst one is shown, for each number of threads
        worst = {}
        for label, v in known:
            group = label.rpartition(" ")[2]
            if group not in worst or (v < worst[group][1] if at_least else v > worst[group][1]):
                worst[group] = label, v
        self.found = ", ".join("%s %s" % (label, form % v) for label, v in worst.values()) or "-"


def geometric(results, threads):
    found = [results.to_best(name, threads) for name in models.FLOAT if name in results.models]
    if len(found) < len(models.FLOAT) or None in found:
        return None
    return math.exp(sum(map(math.log, found)) / len(found))


def bandwidth(results, model, threads):
    """Share of the bandwidth of the memory level that is large enough for the matrix of a matrix-vector product."""
    m, k, n = models.PRODUCTS[model]
    rounds = results.times.get((model, threads, results.ours))
    bytes_ = 4 * k * n
    for _, capacity, each, rate in results.levels.get(threads, []):
        room = capacity * (threads if each else 1)
        if rounds and m == 1 and rate > 0 and (capacity == 0 or bytes_ <= 0.8 * room):
            return bytes_ / min(least for _, least, _ in rounds.values()) / rate
    return None


def start_figure(results, model, ending, figure):
    """The median of a figure of processes that ran a model, from a file with that ending."""
    found = [figure(s) for s in results.starts if s["path"].endswith("/" + model + ending)
             and "nnrt " + s["device"] == results.ours]
    return statistics.median(found) if found else None


def targets(results):
    """Targets of the project: ratios in one run on two cores with AVX-512, batch 1."""
    many, ours = results.threads or [1], results.ours

    def each(names, value):
        """Of every one of these models and numbers of threads."""
        return [("%s %dT" % (name, t), value(name, t) if name in results.models else None)
                for t in many for name in names]

    def to_ort(name, t):
        ratio = results.ratio(name, t, ours, ORT)
        return ratio.median if ratio else None

    def to_xnnpack(name, t):
        return results.to_other(name, t, "XNNPACK")

    def share(name, t):
        value = results.share(name, t, ours)
        return 100 * value if value is not None else None

    def gain(name):
        a, b = results.median(name, 1, ours), results.median(name, 2, ours)
        return a / b if a and b else None

    def start(model, figure, scale, *endings):
        values = [(model + ending, start_figure(results, model, ending, figure)) for ending in endings]
        return [(name, value * scale if value is not None else None) for name, value in values]

    def whole(s):
        return s["load"] + s["prepare"] + s["first"]

    def beyond(s):
        return s["rss"] - s["file"]

    def prepare(s):
        return s["prepare"]

    weights = start_figure(results, "resnet50", ".onnx", lambda s: s["file"])

    def peak(s):
        return s["rss"] / weights

    def error(name, t):
        return results.errors.get((name, t, ours)) if ORT in results.whos else None

    nets = [name for name in models.FLOAT if name in results.models]
    slow = [name for name in nets if (results.median(name, 1, ours) or 0) > 1e-3]
    depthwise = results.rate("dw_3x3s1_384_14", 1, ours) if "dw_3x3s1_384_14" in results.models else None
    tiny = results.median(models.CHAIN, 1, ours)
    vector = "matmul_1x1024x1024"
    direct = ["conv_3x3s1_64_64_56", "conv_3x3s1_256_256_14", "conv_1x1_256_64_56", "conv_1x1_96_576_14"]
    plain, packed = (".onnx", ".nnrt"), ".packed.nnrt"
    of_peak, gain_of = "Percent of the measured peak, ", "Gain by a second thread, "
    return [
        Target("Time by the quickest other's, geometric mean of the ten networks in float32:", 0.75,
               [("%dT" % t, geometric(results, t)) for t in many]),
        Target("Each of the ten by the quickest other", 1.0, each(models.FLOAT, results.to_best)),
        Target("ResNet-18 by ONNX Runtime", 0.65, each(["resnet18"], to_ort)),
        Target("ResNet-50 by ONNX Runtime", 0.8, each(["resnet50"], to_ort)),
        Target("MobileNetV2 by XNNPACK", 0.85, each(["mobilenet_v2"], to_xnnpack)),
        Target("LeNet and FC autoencoder by XNNPACK", 0.8, each(["lenet", "fc_autoencoder"], to_xnnpack)),
        Target("MobileNetV2 in int8 by ONNX Runtime", 0.75, each(["mobilenet_v2_qdq"], to_ort)),
        Target("ResNet-18 in int8 by ONNX Runtime", 0.85, each(["resnet18_qdq"], to_ort)),
        Target("Each network in int8 by the quickest other", 1.0, each(models.INT8, results.to_best)),
        Target(of_peak + "products of 128 to 1024:", 94,
               each(["matmul_%d" % n for n in (128, 256, 512, 1024)], share), "%.0f", True),
        Target(of_peak + "direct convolutions:", 92, each(direct, share), "%.0f", True),
        Target(of_peak + "first layers, of 3 channels:", 85,
               each(["conv_3x3s2_3_32_224", "conv_7x7s2_3_64_224"], share), "%.0f", True),
        Target("Percent of the bandwidth that its size implies, product with a vector:", 85,
               [("%dT" % t, 100 * b if b is not None else None)
                for t, b in ((t, bandwidth(results, vector, t)) for t in many)], "%.0f", True),
        Target("Depthwise convolution in L2, GFLOP/s:", 100,
               [("1T", depthwise / 1e9 if depthwise else None)], "%.0f", True),
        Target(gain_of + "networks over 1 ms:", 1.85, [(n + " 2T", gain(n)) for n in slow], at_least=True),
        Target(gain_of + "DS-CNN and ResNet-8:", 1.5,
               [(n + " 2T", gain(n)) for n in ("dscnn_kws", "resnet8_cifar")], at_least=True),
        Target(gain_of + "every network:", 1.0, [(n + " 2T", gain(n)) for n in nets], at_least=True),
        Target("Nanoseconds a node, a chain of 1,000 tiny sums:", 100, [("1T", tiny * 1e6 if tiny else None)], "%.0f"),
        Target("LeNet, ms to load, prepare and run once:", 0.1, start("lenet", whole, 1e3, *plain, packed), "%.3f"),
        Target("LeNet, MB in memory over the model:", 1, start("lenet", beyond, 1e-6, *plain, packed)),
        Target("ResNet-50, ms to prepare:", 40, start("resnet50", prepare, 1e3, *plain), "%.1f"),
        Target("ResNet-50, ms to prepare from packed weights:", 5, start("resnet50", prepare, 1e3, packed), "%.1f"),
        Target("ResNet-50, peak memory by weights, from ONNX or .nnrt:", 2.1, start("resnet50", peak, 1, *plain)),
        Target("ResNet-50, peak memory by weights, from packed ones:", 1.3, start("resnet50", peak, 1, packed)),
        Target("Largest relative difference to ONNX Runtime, networks in float32:", 1e-4, each(models.FLOAT, error),
               "%.1e"),
    ]


# ----------------------------------------------------------------------------------------------------------------------
# >>text


def table(head, rows):
    """Prints columns: the first one to the left, the others to the right."""
    rows = [["-" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:]))]
        print("  ".join(cells).rstrip())
    print()


def number(value, form):
    return None if value is None else form % value


def show_machine(results):
    for key, value in results.machine.items():
        print("%-16s %s" % (key, value))
    print()
    many = sorted({t for t, _ in results.flops})
    names = list(dict.fromkeys(isa for _, isa in results.flops))
    rows = [[isa + ", GFLOP/s", *(number(results.flops.get((t, isa), 0) / 1e9, "%.0f") for t in many)] for isa in names]
    for i, level in enumerate(results.levels.get(many[0], []) if many else []):
        rows.append([level[0] + ", read, GB/s", *(number(results.levels[t][i][3] / 1e9, "%.0f") for t in many)])
    table(["measured peaks", *("%dT" % t for t in many)], rows)


def show_networks(results):
    names = results.of_kind("chain", "float", "int8")
    devices = [w for w in results.whos if w.startswith("nnrt ")]
    if not names:
        return
    head = ["network, milliseconds", "threads", *devices, ORT, *("%s by ORT" % d for d in devices), "by the best",
            "GFLOP/s", "% of peak", "error", "prepare", "ORT"]
    rows = []
    for name in names:
        for t in results.threads:
            ratios = [results.ratio(name, t, d, ORT) for d in devices]
            rate, share = results.rate(name, t, results.ours), results.share(name, t, results.ours)
            times = [results.median(name, t, w) for w in [*devices, ORT]]
            prepare = [results.prepare.get((name, t, w)) for w in (results.ours, ORT)]
            rows.append([name, t, *(number(s * 1e3 if s else None, "%.4f") for s in times),
                         *(r.text() if r else None for r in ratios), number(results.to_best(name, t), "%.2f"),
                         number(rate / 1e9 if rate else None, "%.1f"), number(100 * share if share else None, "%.1f"),
                         number(results.errors.get((name, t, results.ours)), "%.1e"),
                         *(number(s * 1e3 if s else None, "%.2f") for s in prepare)])
    table(head, rows)
    print("ratios of times in the same rounds: median (quartiles); below 1 nnrt is quicker. by the best: the least of\n"
          "ONNX Runtime, and of XNNPACK and ncnn as ratios to it, tests/bench/peers.tsv. GFLOP/s (of the least time),\n"
          "%% of peak, error and prepare are %s's; ORT's prepare reads the file as well. error: to %s.\n" %
          (results.ours, ORT if ORT in results.whos else "the reference device, as there is no ONNX Runtime"))


def show_layers(results):
    names = results.of_kind("product", "convolution")
    if not names:
        return
    head = ["layer, GFLOP/s", "threads", *results.whos, "% of peak", "by the best"]
    rows = []
    for name in names:
        for t in results.threads:
            rates = {w: results.rate(name, t, w) for w in results.whos}
            others = [w for w in results.whos if not w.startswith("nnrt ")]
            ratios = [r for r in (results.ratio(name, t, results.ours, w) for w in others) if r]
            share = results.share(name, t, results.ours)
            rows.append([name, t, *(number(r / 1e9 if r else None, "%.1f") for r in rates.values()),
                         number(100 * share if share else None, "%.1f"),
                         max(ratios, key=lambda r: r.median).text() if ratios else None])
    table(head, rows)
    wrong = [(n, t, w, e) for (n, t, w), e in results.errors.items() if n in names and not e < 1e-3]
    for name, t, who, error in wrong:
        print("%s, %dT: the result of %s differs by %.1e" % (name, t, who, error))
    if wrong:
        print()


def show_targets(results):
    rows = [[t.text, t.verdict, t.found] for t in targets(results)]
    widths = [max(len(r[i]) for r in rows) for i in range(2)]
    print("targets of nnrt, on two cores with AVX-512, batch 1, %s:" % (results.ours or "nothing measured"))
    for row in rows:
        print("%s  %s  %s" % (row[0].ljust(widths[0]), row[1].ljust(widths[1]), row[2]))
    print("%d met, %d not met, %d not measured" % tuple(sum(r[1] == v for r in rows) for v in (MET, MISSED, UNKNOWN)))


def left_out(results):
    """Libraries that do not run a model, a line for each reason."""
    reasons = {}
    for model, threads, who, why in results.missing:
        reasons.setdefault((who, why), set()).add(model)
    return ["%s, %s: %s" % (who, ", ".join(sorted(where)) if len(where) < 3 else "%d models" % len(where), why)
            for (who, why), where in reasons.items()]


def show(results):
    show_machine(results)
    show_networks(results)
    show_layers(results)
    for who, why in results.absent.items():
        print("absent: %s: %s" % (who, why))
    for line in left_out(results):
        print(line)
    if results.absent or results.missing:
        print()
    show_targets(results)


# ----------------------------------------------------------------------------------------------------------------------
# >>page


COLOURS = dict(zip(ORDER, "abcdefg"))
STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1b1f24; --faint: #6b7480; --line: #d5dae0; --good: #1a7f37;
  --bad: #c4432b; --a: #0b62c4; --b: #7aa7d9; --c: #d9822b; --d: #7a5195; --e: #2a8f6f; --f: #8bbf4a; --g: #b0386c; }
@media (prefers-color-scheme: dark) { :root { --back: #14171b; --text: #e3e7ec; --faint: #98a2ae; --line: #333a42;
  --good: #57c47a; --bad: #f0836b; --a: #5aa9ff; --b: #9cb8d6; --c: #f0a45a; --d: #b594d1; --e: #57c4a1; --f: #b3dd7c;
  --g: #e77aa8; } }
body { background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; max-width: 62rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; } h3 { font-size: 1rem; }
p, dd { color: var(--faint); } dt { float: left; clear: left; width: 10rem; } dd { margin-left: 10.5rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
td, th { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.wide { overflow-x: auto; } svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--text); font: 12px system-ui, sans-serif; } svg .faint { fill: var(--faint); }
.axis { stroke: var(--line); } .one { stroke: var(--faint); stroke-width: 1.5; }
.roof { stroke: var(--text); stroke-width: 1.5; fill: none; } .whisker { stroke: var(--text); stroke-width: 1; }
.legend span { margin-right: 1.2em; } .legend svg { display: inline; width: .7em; height: .7em; }
.met { color: var(--good); } .missed { color: var(--bad); } .unknown { color: var(--faint); }
""" + "".join(".%s { fill: var(--%s); }\n" % (c, c) for c in "abcdefg")


def esc(text):
    return html.escape(str(text), quote=True)


def tag(name, text=None, **attributes):
    """An element; an attribute's last underscore falls away, others become hyphens."""
    head = "<" + name
    for key, value in attributes.items():
        text_of = "%.2f" % value if isinstance(value, float) else value
        head += ' %s="%s"' % (key.rstrip("_").replace("_", "-"), esc(text_of))
    return head + ("/>" if text is None else ">" + text + "</" + name + ">")


def drawing(width, height, parts, title):
    inside = tag("title", esc(title)) + "".join(parts)
    return tag("div", tag("svg", inside, viewBox="0 0 %d %d" % (width, height), role="img"), class_="wide")


def label(x, y, text, anchor="start", faint=False):
    return tag("text", esc(text), x=float(x), y=float(y), text_anchor=anchor, **({"class_": "faint"} if faint else {}))


def legend(whos):
    found = []
    for who in whos:
        square = tag("rect", width=10, height=10, class_=COLOURS.get(who, "b"))
        found.append(tag("span", tag("svg", square, viewBox="0 0 10 10") + " " + esc(who)))
    return tag("p", " ".join(found), class_="legend")


class Log:
    """A logarithmic axis from low to high, drawn from `start` to `end`."""

    def __init__(self, low, high, start, end):
        self.low, self.high, self.start, self.end = math.log10(low), math.log10(high), start, end

    def __call__(self, value):
        return self.start + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def marks(self, steps=(1, 2, 5)):
        found = [s * 10.0 ** e for e in range(math.floor(self.low), math.ceil(self.high) + 1) for s in steps]
        return [v for v in found if self.low - 1e-9 <= math.log10(v) <= self.high + 1e-9]


def draw_ratios(results, threads):
    """Bars from 1 to the ratio of each device's time to ONNX Runtime's, with quartiles, and where the best other is."""
    names = results.of_kind("float", "int8", "chain")
    devices = [w for w in results.whos if w.startswith("nnrt ")]
    rows = [(n, d, results.ratio(n, threads, d, ORT)) for n in names for d in devices]
    rows = [row for row in rows if row[2]]
    if not rows:
        return ""
    values = [v for _, _, r in rows for v in (r.low, r.high)] + [0.5, 2.0]
    values += [v for n in names for v in results.others.get((n, threads), {}).values()]
    axis = Log(min(values) * 0.9, max(values) * 1.1, 190, 740)
    height, parts, last = 26 + 20 * len(rows), [], None
    for v in axis.marks():
        parts += [tag("line", x1=axis(v), x2=axis(v), y1=20.0, y2=float(height), class_="one" if v == 1 else "axis"),
                  label(axis(v), 14, "%g" % v, "middle", True)]
    for i, (name, device, ratio) in enumerate(rows):
        y = 26.0 + 20 * i
        x, one = axis(ratio.median), axis(1)
        parts += [tag("rect", x=min(x, one), y=y, width=max(abs(x - one), 0.5), height=12.0,
                      class_=COLOURS.get(device, "b")),
                  tag("line", x1=axis(ratio.low), x2=axis(ratio.high), y1=y + 6, y2=y + 6, class_="whisker"),
                  label(max(axis(ratio.high), one) + 6, y + 10, ratio.text(), faint=True)]
        if name != last:
            parts.append(label(184, y + 10, name, "end"))
            best = min([1.0, *results.others.get((name, threads), {}).values()])
            if best < 1:
                parts.append(tag("path", d="M%.1f %.1f l4 8 h-8 z" % (axis(best), y + 2), class_="g"))
        last = name
    return tag("h3", "%d thread%s" % (threads, "" if threads == 1 else "s")) + \
        drawing(900, height + 6, parts, "times by ONNX Runtime's, %d threads" % threads)


def draw_layers(results, threads):
    """Bars of GFLOP/s of everyone, with the measured peak."""
    names = results.of_kind("product", "convolution")
    rates = {(n, w): results.rate(n, threads, w) for n in names for w in results.whos}
    if not any(rates.values()):
        return ""
    peak = results.peak(threads)
    most = max([peak, *(r for r in rates.values() if r)])
    parts, y = [], 8.0
    for name in names:
        parts.append(label(184, y + 10, name, "end"))
        for who in results.whos:
            rate = rates[name, who]
            if rate:
                width = rate / most * 560
                parts += [tag("rect", x=190.0, y=y, width=max(width, 0.5), height=9.0, class_=COLOURS.get(who, "b")),
                          label(196 + width, y + 9, "%.0f" % (rate / 1e9), faint=True)]
                y += 11
        y += 8
    x = 190 + peak / most * 560
    parts.insert(0, tag("line", x1=x, x2=x, y1=0.0, y2=y, class_="one"))
    title = "%d thread%s, GFLOP/s; the line is the measured peak, %.0f"
    head = tag("h3", title % (threads, "" if threads == 1 else "s", peak / 1e9))
    return head + drawing(900, y, parts, "layers, %d threads" % threads)


def draw_roof(results, threads):
    """Operations a second over operations a byte, below the limits of processor and memory."""
    peak, levels = results.peak(threads), [v for v in results.levels.get(threads, []) if v[3] > 0]
    points = []
    for name, (kind, macs, moved) in results.models.items():
        for who in (results.ours, ORT):
            rate = results.rate(name, threads, who)
            if rate and moved:
                points.append((2 * macs / moved, rate, name, who, kind in ("product", "convolution")))
    if not peak or not levels or not points:
        return ""
    across = Log(0.1, max(400, 1.2 * max(p[0] for p in points)), 60, 880)
    up = Log(min(p[1] for p in points) * 0.7, 1.3 * max(peak, *(p[1] for p in points)), 440, 20)
    low, parts = 10 ** up.low, []
    for v in across.marks((1,)):
        parts += [tag("line", x1=across(v), x2=across(v), y1=20.0, y2=440.0, class_="axis"),
                  label(across(v), 456, "%g" % v, "middle", True)]
    for v in up.marks((1,)):
        parts += [tag("line", x1=60.0, x2=880.0, y1=up(v), y2=up(v), class_="axis"),
                  label(54, up(v) + 4, "%g" % (v / 1e9), "end", True)]
    for name, _, _, rate in levels:
        left = max(0.1, low / rate)
        right = max(peak / rate, 0.1)
        text, bottom = "%s %.0f GB/s" % (name, rate / 1e9), up(left * rate)
        parts += [tag("line", x1=across(left), y1=bottom, x2=across(right), y2=up(right * rate), class_="roof"),
                  label(across(left) + 16, min(bottom + 4, 436), text, faint=True)]
    first = max(0.1, peak / max(rate for _, _, _, rate in levels))
    parts += [tag("line", x1=across(first), x2=880.0, y1=up(peak), y2=up(peak), class_="roof"),
              label(876, up(peak) - 6, "%.0f GFLOP/s" % (peak / 1e9), "end")]
    for x, rate, name, who, layer in points:
        said = tag("title", esc("%s, %s: %.1f GFLOP/s, %.1f operations a byte" % (name, who, rate / 1e9, x)))
        colour = COLOURS.get(who, "b")
        parts.append(tag("rect", said, x=across(x) - 4, y=up(rate) - 4, width=8.0, height=8.0, class_=colour) if layer
                     else tag("circle", said, cx=across(x), cy=up(rate), r=4.5, class_=colour))
    parts.append(label(880, 472, "operations a byte that nodes read and write, each on its own", "end", True))
    return tag("h3", "%d thread%s, GFLOP/s" % (threads, "" if threads == 1 else "s")) + \
        drawing(900, 480, parts, "roofline, %d threads" % threads)


def section(title, text, parts):
    """Nothing without parts."""
    parts = [p for p in parts if p]
    return tag("h2", esc(title)) + tag("p", text) + "".join(parts) if parts else ""


def page(results):
    """The page, with nothing outside itself."""
    classes = {MET: "met", MISSED: "missed", UNKNOWN: "unknown"}
    rows = ""
    for t in targets(results):
        rows += tag("tr", tag("td", esc(t.text)) + tag("td", esc(t.verdict), class_=classes[t.verdict]) +
                    tag("td", esc(t.found)))
    devices = [w for w in results.whos if w.startswith("nnrt ")]
    lines = ["%s: %s" % item for item in results.absent.items()] + left_out(results)

    def drawn(draw, whos):
        """A legend and a drawing for each number of threads, if any."""
        parts = [draw(results, t) for t in results.threads]
        return [legend(whos), *parts] if any(parts) else []

    body = [
        tag("h1", "nnrt beside others"),
        tag("dl", "".join(tag("dt", esc(k)) + tag("dd", esc(v)) for k, v in results.machine.items())),
        section("Targets", "Of %s, on two cores with AVX-512, batch 1." % esc(results.ours),
                [tag("div", tag("table", rows), class_="wide")]),
        section("Networks", "Time by ONNX Runtime's in the same rounds, logarithmic: left of 1 nnrt is quicker. The "
                "line in a bar goes from one quartile to the other; the triangle is the quickest other, XNNPACK or "
                "ncnn, as a ratio measured elsewhere (tests/bench/peers.tsv).", drawn(draw_ratios, devices)),
        section("Layers", "The least time of each.", drawn(draw_layers, results.whos)),
        section("Roofline", "Circles are networks, squares layers; a name appears where the pointer rests. What lies "
                "above a line of memory does not read all of it from there. The roof is that of float32.",
                drawn(draw_roof, [results.ours, ORT])),
        section("Not measured", "Who is not there, and who does not run what.",
                [tag("ul", "".join(tag("li", esc(line)) for line in lines))] if lines else []),
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>nnrt: make bench</title>'
    return ('<!DOCTYPE html>\n<html lang="en"><head>%s<style>%s</style></head><body>%s</body></html>\n'
            % (head, STYLE, "\n".join(body)))
