"""Parts of the site that are computed: cards of the operators, and charts. tools/docs/site.py calls them."""
import concurrent.futures
import html
import os
import pathlib
import re
import subprocess

import pictures

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Kinds of attributes (nnrt_ops.h, >>attributes); those of an enumeration have its name.
KINDS = {"BOOL": "bool", "FLOAT": "float", "FLOATS": "floats", "GRAPH": "subgraph", "INT": "int64", "INT64": "int64",
         "INTS": "int64 list", "INTS64": "int64 list", "INTS2": "lists of int64", "STRING": "string", "TYPE": "data type"}
LISTS = ("FLOATS", "INTS", "INTS64", "INTS2", "STRING")
# A comment that defines an operator: it begins with a formula of a result, or stands before a public kernel.
DEFINES = re.compile(r"^/\* (?!The same|Quantized|>>)((?:[yz]\b[^=;*]{0,40} = (?:(?!\*/).)*?) \*/$|"
                     r"(?:(?!\*/).)*? \*/\n(?:NNRT_API|NNRTI_\w+\())", re.M | re.S)


def escape(text):
    return html.escape(text, quote=False)


def code(text):
    """Text with `code` marked up."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


# ---- operators ----

def read_operators():
    """{operator: (rows of its attribute struct, definition)} of nnrt_ops.h. The definition is the first comment of the section
    >>kernel of the operator that DEFINES matches; "" if the operator shares the kernels of another one."""
    source = (ROOT / "nnrt_ops.h").read_text(encoding="utf-8")
    source = re.sub(r"NNRT_NOT_ZERO\((.*?)\)", r"\1", re.sub(r"NNRT_REQUIRED(_TEXT)?\b", "required", source))
    structs = {name: re.findall(r"M\(S, (\w+), +(\w+), +(\w+), +([^)]*?)\) *(?:/\* (.*?) \*/)?", rows, re.S)
               for name, rows in re.findall(r"#define NNRT_ATTR_(\w+)\(M, S\) ?((?:.*\\\n)*.*)", source)}
    definitions = {}
    for name, body in re.findall(r"^/\* >>kernel (\w+) \*/\n(.*?)(?=^/\* >>|\Z)", source, re.M | re.S):
        found = DEFINES.search(body)
        definitions[name] = re.sub(r"\s+", " ", found[1].split(" */")[0]) if found else ""
    return {name: (structs.get(struct, []), definitions.get(name, ""))
            for name, struct in re.findall(r"^    X\((\w+), +\d+, (\w+),", source, re.M)}


def names_of(column):
    """Names of a column of docs/OPERATORS.md without numbers and operator sets: "Abs 1 to 28, Neg (3)": Abs, Neg."""
    return [re.sub(r" (\d+ to \d+|\(\d+\))$", "", name) for name in column.split(", ") if name]


def operator_kernels(nnrt, names):
    """{operator: attribute struct and kernel, as `nnrt ops --show` prints them below the lines about operands and types}. Operators
    without a kernel (IF, LOOP) are not in it."""
    def show(name):
        done = subprocess.run([nnrt, "ops", "--show", name], cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}, capture_output=True,
                              text=True, check=False)
        if done.returncode and "has no kernel" not in done.stderr:
            raise SystemExit("nnrt ops --show %s: %s" % (name, done.stderr))
        return done.stdout.partition("\n\n")[2]

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return {name: kernel for name, kernel in zip(names, pool.map(show, names)) if kernel}


def operator_cards(rows, lite, kernels):
    """The operator reference, its entries for the search: (anchor, names, text), and {operator: body of its page without the
    kernel}. rows: of docs/OPERATORS.md without the heading; lite: {operator: names in TensorFlow Lite}."""
    known, cards, entries, pages = read_operators(), [], [], {}
    for number, name, operands, hdi, ohnn, nnadapter, onnx, types, quantized, devices in rows:
        name = name.strip("`")
        attributes, definition = known[name]
        others = names_of(onnx) + lite.get(name, []) + names_of(ohnn) + names_of(nnadapter)
        names = sorted({n.rsplit(".", 1)[-1] for n in others})
        facts = [("Operands", code(operands))] + [(system, escape(column)) for system, column in (
            ("Types", types), ("Quantized", quantized), ("Devices", devices), ("ONNX", onnx),
            ("TensorFlow Lite", ", ".join(lite.get(name, []))), ("OH_NN", ohnn), ("NNAdapter", nnadapter),
            ("HDI", hdi and "since " + hdi))]
        members = "".join("<tr><td><code>%s</code></td><td>%s</td><td>%s</td><td>%s</td></tr>" % (
            member, KINDS.get(kind) or type_of, "empty" if kind in LISTS and default != "required" else escape(default), escape(re.sub(r"\s+", " ", text)))
            for kind, type_of, member, default, text in attributes if member != "reserved")
        pages[name] = '%s<dl>%s</dl>%s' % (
            '<p class="definition">%s</p>' % escape(definition) if definition else "",
            "".join("<div><dt>%s</dt><dd>%s</dd></div>" % fact for fact in facts if fact[1]),
            '<div class="scroll" tabindex="0" role="region" aria-label="Attributes of %s"><table><tr><th>Attribute</th>'
            '<th>Type</th><th>Default</th><th>Meaning</th></tr>%s</table></div>' % (name, members) if members else "")
        cards.append(
            '<section class="operator" id="%s" data-names="%s"><h3><a href="#%s">%s</a> <small>%s</small></h3>%s'
            '<p class="copy"><a href="operators/%s.html">%s</a></p></section>' % (
                name, html.escape(" ".join([name, *names]).lower()), name, name, number, pages[name], name,
                "Kernel in C" if name in kernels else "Page of %s" % name))
        entries.append((name, " ".join(names), definition or types))
    return ('<label class="filter" for="filter">Filter by a name here, in ONNX, TensorFlow Lite, OH_NN or NNAdapter '
            '<input id="filter" type="search" autocomplete="off"></label><p id="shown" role="status">%d operators</p>\n%s' % (
                len(cards), "\n".join(cards))), entries, pages


# ---- charts ----

def chart(title, groups, note, limit=None, legend=()):
    """A table of bars. groups: [(label, [(color, value, shown, name)])]; limit: where a line stands; legend: [(color, meaning)]."""
    most = max([1.06 * limit if limit else 0] + [value for _, bars in groups for _, value, _, _ in bars])
    line = '<line x1="{0:.2f}%" x2="{0:.2f}%" y1="-3" y2="17"/>'.format(100 * limit / most) if limit else ""
    rows = "".join('<tr><th scope="row">%s</th><td>%s</td></tr>' % (escape(label), "".join(
        '<div><svg class="%s" width="100%%" height="14" aria-hidden="true"><rect width="%.2f%%" height="14" rx="2"/>%s</svg>'
        '<span><b>%s</b> %s</span></div>' % (color, 100 * value / most, line, escape(shown), escape(name))
        for color, value, shown, name in bars)) for label, bars in groups)
    keys = "".join('<span><i class="%s"></i>%s</span>' % key for key in legend)
    return '<figure class="chart"><table><caption>%s%s</caption>%s</table><figcaption>%s</figcaption></figure>' % (
        escape(title), keys and '<span class="keys">%s</span>' % keys, rows, escape(note))


def grouped(rows, bar):
    """[(label, [bar of a row])] of rows with the subject "label | name"; bar(row, name, place in the group)."""
    groups = {}
    for row in rows:
        label, name = row["subject"].split(" | ")
        bars = groups.setdefault(label, [])
        bars.append(bar(row, name, len(bars)))
    return list(groups.items())


def note_of(rows):
    """Unit, dates, machines and sources of the rows."""
    def unique(column):
        return "; ".join(dict.fromkeys(row[column] for row in rows))
    return "Unit: %s. %s, %s. %s." % (unique("unit"), unique("date"), unique("machine"), unique("source"))


COLORS = ("own", "other", "peer")


def ratio_chart(figures, name, title):
    """A chart of times of nnrt divided by times of peers."""
    rows = pictures.select(figures, name)
    return chart("Time of nnrt divided by the time of the peer: " + title, grouped(rows, lambda row, peer, place: (
        COLORS[place], row["value"], row["shown"], peer.replace("quickest: ", ""))),
        "Shorter is faster; the line is at 1.0, the time of the peer. " + note_of(rows), 1.0,
        [("own", "ONNX Runtime"), ("other", "the quickest peer")] if "float32" in name else [])


def mcu_chart(figures):
    """Instructions and cycles on a Cortex-M4."""
    rows = pictures.select(figures, "mcu-network")
    return chart("Networks of MLPerf Tiny on a Cortex-M4, for each multiply-accumulate", grouped(rows, lambda row, who, place: (
        COLORS[place], row["value"], row["shown"], who.split(": ")[-1])),
        note_of(rows) + " An instruction takes one cycle or more, and flash adds wait states.",
        legend=[("own", "nnrt, instructions"), ("other", "best entry, cycles"), ("peer", "best open entry, cycles")])


def code_charts(figures):
    """Code size on a Cortex-M4, and of programs."""
    def bar(row, who, *_):
        return ("own" if who.startswith("nnrt") else "peer", row["value"], row["shown"] + " KB", who)
    kernels, programs = pictures.select(figures, "firmware-code"), pictures.select(figures, "firmware-program")
    return [chart("Code of int8 kernels on a Cortex-M4: convolution, depthwise, fully connected, add, pools, softmax",
                  [("gcc " + option, bars) for option, bars in grouped(kernels, bar)], note_of(kernels)),
            chart("Code of a program that runs LeNet in float32, without weights",
                  [(row["subject"], [bar(row, row["subject"])[:3] + ("",)]) for row in programs], note_of(programs))]


def web_charts(size, speed, paragraph):
    """Charts of the tables of docs/web.md. paragraph: the text before the table of times."""
    def color(label):
        return "peer" if label.startswith("onnxruntime") else "own"
    counts = [(label.replace("`", ""), int(count.replace(",", ""))) for label, count, _ in size]
    return [chart("Time of nnrt divided by the time of onnxruntime-web",
                  [(net, [("own", float(ratio), ratio, "%s / %s" % (own, other))]) for net, own, other, ratio, _ in speed],
                  "Shorter is faster; the line is at 1.0. After the ratio: milliseconds of both. " +
                  re.sub(r"\s+", " ", paragraph.replace("`", "")), 1.0),
            chart("Files that a page downloads, without compression",
                  [(label, [(color(label), count, "%.2f MB" % (count / 1e6), "")]) for label, count in counts],
                  "Sizes of docs/web.md; 1 MB is 1,000,000 bytes.")]
