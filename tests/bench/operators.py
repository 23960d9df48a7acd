#!/usr/bin/python3
"""make bench-operators: each operator and element type on the device cpu, beside ONNX Runtime and the roofline of the machine.

    operators.py [--driver build/bench/operators] [--out build/bench/operators-run] [--ort LIBRARY | --peers no] [--seconds S]
                 [--all] [--figures docs/figures.tsv] [OPERATOR...]
    operators.py --from build/bench/operators-run/results.tsv [--out DIR] [--figures FILE]

tests/devices/typical.h makes the models from the table of operators. tests/kit/to_onnx.py writes each as ONNX, with channels
first, as exporters have images. If ONNX has no such node, or ONNX Runtime no kernel, the reason is printed instead of a time.
One thread; the least times of several turns. Without names of operators: all.

Prints the rows, the slowest beside the roofline first, and a summary; writes results.tsv and report.html into --out. --figures
replaces the figures of this benchmark in that file. Exit status: 0, or 2 for a wrong use."""
import argparse
import collections
import datetime
import html
import math
import os
import re
import subprocess
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../kit"))
sys.path.insert(0, os.path.join(HERE, "../devices"))
sys.path.insert(0, HERE)

import bench  # noqa: E402  the path of ONNX Runtime
import report  # noqa: E402  the machine in words

SLOWEST = 20
COLUMNS = ("number", "operator", "type", "fixed_kernel", "dynamic_kernel", "macs", "bytes", "roofline", "fixed", "dynamic",
           "peer", "fault")


# ---- ONNX files ----

class Tensor:
    """A tensor of a dumped node, as to_onnx.py reads it. Values of inputs are not known."""

    def __init__(self, words, constants):
        _, number, self.kind, self.dtype, self.format, dims = words
        self.number, self.quant, self.axis, self.told = int(number), (), 0, False
        self.shape = tuple(int(n) for n in dims.strip("[]").split(",") if n)
        numeric = numpy.dtype("bool" if self.dtype == "bool" else self.dtype)
        if self.kind == "constant":
            count = math.prod(self.shape)
            self.value = numpy.frombuffer(constants.read(count * numeric.itemsize), numeric).reshape(self.shape)
        else:
            self.value = numpy.broadcast_to(numeric.type(1), self.shape)
        if self.format == "NHWC" and len(self.shape) == 4:
            self.shape = self.shape[:1] + self.shape[3:] + self.shape[1:3]
            self.value, self.format = numpy.moveaxis(self.value, -1, 1), "NCHW"


class Graph:
    """A dumped node and its tensors."""

    def __init__(self, path):
        self.tensors, self.op, self.resolved, self.attrs = {}, "", {}, {}
        with open(path, encoding="utf-8") as lines, open(path[:-3] + "bin", "rb") as constants:
            for line in lines:
                words = line.split()
                if words[0] == "node":
                    self.op = words[1]
                elif words[0] == "attr":
                    self.resolved = {name: value_of(value) for name, _, value in
                                     (part.partition("=") for part in re.findall(r"\w+=(?:'[^']*'|\S+)", line))}
                elif words[0] == "given":
                    self.attrs[words[1]] = " ".join(words[2:])
                elif words[0] == "tensor":
                    last = Tensor(words, constants)
                    self.tensors[last.number] = last
                elif words[0] == "quant":
                    last.quant += ((int(words[1]), int(words[2]), words[3]),)
        numbers = [t.number for t in self.tensors.values() if t.kind != "result"]
        self.ins = [n if n in self.tensors else None for n in range(max(numbers, default=-1) + 1)]
        self.outs = [t.number for t in self.tensors.values() if t.kind == "result"]


def value_of(text):
    """An attribute as nnrt_attr_print writes it, read as tests/devices/differential.py reads it."""
    import differential  # pylint: disable=import-outside-toplevel  # needs the folder devices
    return differential.value_of(text)


def write_onnx(folder, number):
    """Writes NUMBER.onnx; returns the reason if ONNX has no such node."""
    import to_onnx  # pylint: disable=import-outside-toplevel  # needs python3-onnx
    graph = Graph(os.path.join(folder, number + ".txt"))
    try:
        if graph.op not in to_onnx.OPERATORS:
            return "no node of ONNX"
        with numpy.errstate(all="ignore"):
            inputs = [t for t in graph.tensors.values() if t.kind == "input"]
            constants = {"t%d" % t.number: t.value for t in graph.tensors.values() if t.kind == "constant"}
            model, _ = to_onnx.model_of([to_onnx.Writer(graph, graph)], constants, inputs)
    except to_onnx.NoEquivalent as reason:
        return str(reason)
    with open(os.path.join(folder, number + ".onnx"), "wb") as f:
        f.write(model.SerializeToString())
    return None


# ---- runs ----

def progress(text):
    """A line on a terminal that the next one replaces."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text)
        sys.stderr.flush()


def fail(text):
    """Ends the program for a wrong use."""
    print("bench-operators: " + text, file=sys.stderr)
    sys.exit(2)


def measure(options):
    """Writes results.tsv; returns the reasons why ONNX Runtime was not asked, by number."""
    os.makedirs(options.out, exist_ok=True)
    for name in os.listdir(options.out):
        if re.fullmatch(r"\d+\.(txt|bin|onnx)", name):
            os.remove(os.path.join(options.out, name))
    command = [options.driver] + (["--all"] if options.all else [])
    dumped = subprocess.run(command + ["--dump", options.out] + options.operators, capture_output=True, text=True,
                            check=False)
    if dumped.returncode != 0:
        fail(dumped.stderr.strip() or "the program ended with status %d" % dumped.returncode)
    rows = [line.split("\t") for line in dumped.stdout.splitlines()]
    library = "no" if options.peers == "no" else options.ort
    reasons = {}
    for i, (number, operator, kind) in enumerate(rows):
        progress("writing ONNX models: %d of %d, %s %s" % (i + 1, len(rows), operator, kind))
        if library != "no":
            reasons[number] = write_onnx(options.out, number)
    path = os.path.join(options.out, "results.tsv")
    with open(path, "w", encoding="utf-8") as out:
        out.write("# %s, %s\n" % (report.processor(), datetime.date.today()))
        with subprocess.Popen(command + ["--run", options.out, library, str(options.seconds)] + options.operators,
                              stdout=subprocess.PIPE, text=True) as run:
            done = 0
            for line in run.stdout:
                cells = line.rstrip("\n").split("\t")
                if len(cells) == len(COLUMNS):
                    done += 1
                    progress("measuring: %d of %d, %s %s" % (done, len(rows), cells[1], cells[2]))
                    cells[-1] = reasons.get(cells[0]) or cells[-1] if library != "no" else "not asked"
                out.write("\t".join(cells) + "\n")
        if run.returncode != 0:
            fail("the program ended with status %d after %d of %d models" % (run.returncode, done, len(rows)))
    progress("")
    return path


# ---- tables ----

class Row(collections.namedtuple("Row", COLUMNS)):
    """A line of results.tsv; times are seconds or None."""

    @property
    def slow(self):
        """The slower one of fixed and dynamic dimensions, beside the roofline."""
        return max(t for t in (self.fixed, self.dynamic or 0)) / self.roofline

    @property
    def beside(self):
        """The time with fixed dimensions beside ONNX Runtime."""
        return self.fixed / self.peer if self.peer else None

    @property
    def falls(self):
        """Whether a step has a reference kernel."""
        return any(part.startswith("nnrt_") for part in (self.fixed_kernel + " + " + self.dynamic_kernel).split(" + "))


def read(path):
    """(heads, rows) of results.tsv."""
    heads, rows = [], []
    try:
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                cells = line.rstrip("\n").split("\t")
                if line.startswith("#"):
                    heads.append(line[1:].strip())
                    continue
                times = [None if c == "-" else float(c) for c in cells[5:11]]
                row = Row(*cells[:5], *times, *cells[11:])
                if row.fixed is None or not row.roofline:
                    raise ValueError("no time")
                rows.append(row)
    except OSError as error:
        fail(str(error))
    except (ValueError, TypeError):
        fail("%s: line %d is none of this benchmark" % (path, number))
    return heads, sorted(rows, key=lambda r: -r.slow)


def micro(seconds):
    """Microseconds."""
    return "-" if seconds is None else "%.2f" % (seconds * 1e6)


def behind(rows):
    """Rows slower than ONNX Runtime, the slowest first."""
    return sorted((r for r in rows if r.beside and r.beside > 1), key=lambda r: -r.beside)


def later(rows):
    """Rows slower by a fifth with dynamic dimensions, the slowest first."""
    return sorted((r for r in rows if r.dynamic and r.dynamic > 1.2 * r.fixed), key=lambda r: -r.dynamic / r.fixed)


def shown(value):
    """A figure of the summary as text."""
    return "%.2f" % value if isinstance(value, float) else str(value)


def cells_of(row):
    """The cells of a row in the tables."""
    same = row.dynamic_kernel == row.fixed_kernel
    return [row.operator, row.type, row.fixed_kernel, "" if same else row.dynamic_kernel, micro(row.roofline),
            micro(row.fixed), micro(row.dynamic), "%.1f" % row.slow, micro(row.peer),
            "%.2f" % row.beside if row.beside else "-", "" if row.peer else row.fault]


HEAD = ["operator", "type", "kernel", "dynamic", "roofline us", "fixed us", "dynamic us", "x roofline", "ORT us", "x ORT",
        "no ORT time"]


def summary(rows):
    """Figures of all rows: (name, value, text)."""
    beside = [r.beside for r in rows if r.beside]
    found = [("rows", len(rows), "rows: operators and element types"),
             ("reference", sum(r.falls for r in rows), "rows with a step by a reference kernel"),
             ("above 4", sum(r.slow > 4 for r in rows), "rows that take more than 4 times the roofline"),
             ("slower in dynamic", len(later(rows)), "rows slower by a fifth with dynamic dimensions")]
    if beside:
        found += [("peer rows", len(beside), "rows that ONNX Runtime runs, too"),
                  ("peer mean", math.exp(sum(map(math.log, beside)) / len(beside)),
                   "geometric mean of the times as ratios to ONNX Runtime"),
                  ("peer slower", len(behind(rows)), "rows slower than ONNX Runtime"),
                  ("peer much slower", sum(b > 1.5 for b in beside), "rows that take more than 1.5 times its time")]
    return found


def show(heads, rows):
    """The tables of text."""
    for head in heads:
        print(head)
    widths = [max(len(c[k]) for c in [HEAD] + [cells_of(r) for r in rows]) for k in range(len(HEAD))]
    for cells in [HEAD] + [cells_of(r) for r in rows]:
        print("  ".join(c.ljust(min(w, 40)) if k < 4 or k == len(HEAD) - 1 else c.rjust(w)
                        for k, (c, w) in enumerate(zip(cells, widths))).rstrip())
    for title, some in (("slowest beside ONNX Runtime", behind(rows)), ("slower with dynamic dimensions", later(rows))):
        print("\n%s:" % title)
        for row in some[:SLOWEST]:
            ratio = row.beside if "beside" in title else row.dynamic / row.fixed
            print("  %-28s %-8s %-40s %8.2f" % (row.operator, row.type, row.fixed_kernel, ratio))
    print()
    for _, value, text in summary(rows):
        print("%7s  %s" % (shown(value), text))


PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>nnrt: operators</title>
<style>
:root { color-scheme: light dark; }
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 90em; padding: 0 1em; }
table { border-collapse: collapse; }
th { position: sticky; top: 0; background: Canvas; text-align: left; }
td, th { padding: .15em .6em; border-bottom: 1px solid color-mix(in srgb, CanvasText 20%%, Canvas); }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
td.slow { color: light-dark(#a00, #f77); }
</style></head><body><h1>Operators on the device cpu</h1><p>%s</p><ul>%s</ul>
<p>Times are the least of several turns, one thread, microseconds. The roofline is the time to copy as many bytes, or of the
multiply-accumulates at the measured peak, whichever is longer. A kernel with the prefix nnrt_ is a reference kernel.</p>
<h2>All rows, the slowest beside the roofline first</h2>%s<h2>Slower than ONNX Runtime</h2>%s</body></html>
"""


def table(rows):
    """An HTML table."""
    body = []
    for row in rows:
        cells = ["<td%s>%s</td>" % (' class="n"' if 4 <= k < 10 else ' class="slow"' if text.startswith("nnrt_") else "",
                                    html.escape(text)) for k, text in enumerate(cells_of(row))]
        body.append("<tr>%s</tr>" % "".join(cells))
    heads = "".join("<th>%s</th>" % h for h in HEAD)
    return "<table><thead><tr>%s</tr></thead><tbody>\n%s\n</tbody></table>" % (heads, "\n".join(body))


def page(heads, rows):
    """The page."""
    facts = ["<li>%s: %s</li>" % (html.escape(text), shown(value)) for _, value, text in summary(rows)]
    return PAGE % ("<br>".join(map(html.escape, heads)), "".join(facts), table(rows), table(behind(rows)))


# ---- figures ----

def figures(path, heads, rows):
    """Replaces the figures of this benchmark."""
    machine, _, date = heads[0].rpartition(", ")
    with open(path, encoding="utf-8") as f:
        kept = [line for line in f.read().splitlines() if not line.startswith("operators-")]
    source = "make bench-operators"
    lines = [("operators-summary", text, shown(value), "ratio" if isinstance(value, float) else "rows")
             for _, value, text in summary(rows)]
    lines += [("operators-roofline", "%s | %s" % (r.operator, r.type), "%.1f" % r.slow, "time / roofline")
              for r in rows[:SLOWEST]]
    lines += [("operators-peer", "%s | %s" % (r.operator, r.type), "%.2f" % r.beside, "nnrt time / peer time")
              for r in behind(rows)[:SLOWEST]]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(kept + ["\t".join(line + (date, machine, source)) for line in lines]) + "\n")


def main(arguments):
    """The program."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--driver", default="build/bench/operators")
    parser.add_argument("--out", default="build/bench/operators-run")
    parser.add_argument("--ort", default=bench.ORT)
    parser.add_argument("--peers", choices=("yes", "no"), default="yes")
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--from", dest="results")
    parser.add_argument("--figures")
    parser.add_argument("operators", nargs="*")
    options = parser.parse_args(arguments)
    if not options.seconds > 0:
        fail("--seconds: a number above 0")
    if options.peers == "yes" and not options.results and not os.path.exists(options.ort):
        fail("%s is not there: sh tests/compare/run.sh --fetch" % options.ort)
    heads, rows = read(options.results or measure(options))
    if not rows:
        fail("no row")
    show(heads, rows)
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "report.html"), "w", encoding="utf-8") as f:
        f.write(page(heads, rows))
    print("page: %s" % os.path.join(options.out, "report.html"))
    if options.figures:
        figures(options.figures, heads, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
