#!/usr/bin/env python3
"""Draws the pictures of docs: speed.svg, mcu.svg, firmware.svg and digits.svg from docs/figures.tsv and
examples/digits/sheet.png; vad.svg and wake.svg, which show a terminal, from the READMEs of these examples.

usage: pictures.py            writes the six files (make pictures); run from anywhere
       pictures.py --check    compares instead: names each file that differs from what would be drawn; status 1 if one does

Nothing is measured here: docs/figures.tsv has a row for each figure, with its unit, date, machine and source, and the
READMEs have what the programs print. This script draws those. Each picture has a background of its own and two palettes, of which the reader's color scheme
(prefers-color-scheme) selects one. Only the Python standard library is needed.
"""
import html
import pathlib
import re
import struct
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "figures.tsv"
SHEET = ROOT / "examples" / "digits" / "sheet.png"
COLUMNS = "figure subject value unit date machine source".split()

# class: what it is for, light and dark color
COLORS = {
    "page": ("#ffffff", "#0d1117"),
    "text": ("#1f2328", "#e6edf3"),
    "soft": ("#59636e", "#9198a1"),
    "line": ("#c8ced5", "#3d444d"),
    "own": ("#0969da", "#4493f8"),
    "peer": ("#8c959f", "#7d8590"),
    "other": ("#9a6700", "#d29922"),
}
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"


def read_figures():
    """[{column: text}] of the rows of figures.tsv, with value as a number; a malformed row raises ValueError."""
    rows = [line.split("\t") for line in FIGURES.read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("#")]
    if rows[0] != COLUMNS:
        raise ValueError("%s: the columns are %s, expected %s" % (FIGURES.name, rows[0], COLUMNS))
    figures = []
    for row in rows[1:]:
        if len(row) != len(COLUMNS) or not all(row):
            raise ValueError("%s: a row with an empty or missing column: %s" % (FIGURES.name, "\t".join(row)))
        figure = dict(zip(COLUMNS, row))
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", figure["date"]):
            raise ValueError("%s: the date is %s, expected YYYY-MM-DD" % (FIGURES.name, figure["date"]))
        figure["shown"] = figure["value"]
        figure["value"] = float(figure["value"])
        figures.append(figure)
    return figures


def select(figures, name):
    """The rows of one figure, in their order; there must be some."""
    rows = [row for row in figures if row["figure"] == name]
    if not rows:
        raise ValueError("%s: no row of the figure %s" % (FIGURES.name, name))
    return rows


def read_png(path):
    """(width, height, rows of bytes) of a PNG file with 8 bits of gray a pixel, not interlaced."""
    data = path.read_bytes()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("%s: no PNG file" % path.name)
    place, packed = 8, b""
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        body = data[place + 8:place + 8 + length]
        if kind == b"IHDR":
            width, height, depth, color, _, _, interlace = struct.unpack(">IIBBBBB", body)
            if (depth, color, interlace) != (8, 0, 0):
                raise ValueError("%s: expected 8 bits of gray a pixel, not interlaced" % path.name)
        elif kind == b"IDAT":
            packed += body
        place += 12 + length
    raw = zlib.decompress(packed)
    rows, before = [], bytearray(width)
    for y in range(height):
        kind, line = raw[y * (width + 1)], bytearray(raw[y * (width + 1) + 1:(y + 1) * (width + 1)])
        for x in range(width):
            left, up = line[x - 1] if x else 0, before[x]
            corner = before[x - 1] if x else 0
            if kind == 4:  # Paeth: the neighbor closest to left + up - corner
                guess = left + up - corner
                add = min((left, up, corner), key=lambda v: abs(guess - v))
            else:
                add = (0, left, up, (left + up) // 2)[kind]
            line[x] = (line[x] + add) & 255
        rows.append(line)
        before = line
    return width, height, rows


class Svg:
    """Collects the elements of one picture. Coordinates are pixels."""

    def __init__(self, width, height, title):
        self.width, self.height, self.title, self.parts = width, height, title, []

    def text(self, x, y, text, kind="text", size=13, anchor="start", weight=""):
        self.parts.append('<text x="%g" y="%g" class="%s" font-size="%g"%s%s>%s</text>' % (
            x, y, kind, size, "" if anchor == "start" else ' text-anchor="%s"' % anchor,
            ' font-weight="%s"' % weight if weight else "", html.escape(text, quote=False)))

    def fixed(self, x, y, text, kind, wide):
        """Text of a terminal: `wide` pixels a character, whatever font the reader has."""
        self.parts.append('<text x="%g" y="%g" class="%s" font-size="13" font-family="ui-monospace, Menlo, \'DejaVu Sans '
                          'Mono\', monospace" textLength="%g">%s</text>' % (
                              x, y, kind, wide * len(text), html.escape(text, quote=False)))

    def bar(self, x, y, width, height, kind):
        self.parts.append('<rect x="%g" y="%g" width="%g" height="%g" class="%s"/>' % (
            x, y, max(width, 1), height, kind))

    def line(self, x1, y1, x2, y2, dashed=False):
        self.parts.append('<path d="M%g %gL%g %g" class="stroke"%s/>' % (
            x1, y1, x2, y2, ' stroke-dasharray="4 3"' if dashed else ""))

    def path(self, d, kind, opacity):
        self.parts.append('<path d="%s" class="%s" fill-opacity="%g"/>' % (d, kind, opacity))

    def finish(self):
        """The file."""
        def palette(which):
            fills = "".join(".%s{fill:%s}" % (name, colors[which]) for name, colors in COLORS.items())
            return fills + ".stroke{fill:none;stroke:%s}" % COLORS["line"][which]

        title = html.escape(self.title, quote=False)
        head = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" '
                'font-family="%s">\n<title>%s</title>\n<style>%s@media(prefers-color-scheme:dark){%s}</style>\n'
                '<rect width="%g" height="%g" rx="6" class="page"/>\n' % (
                    self.width, self.height, self.width, self.height, FONT, title, palette(0), palette(1), self.width,
                    self.height))
        return head + "\n".join(self.parts) + "\n</svg>\n"


def draw_speed(figures):
    """Bars of ten networks: time of nnrt divided by the time of ONNX Runtime, and of the quickest peer."""
    nets = {}
    for row in select(figures, "speed-float32-1t"):
        net, peer = row["subject"].split(" | ")
        nets.setdefault(net, []).append((peer, row))
    first = select(figures, "speed-float32-1t")[0]
    left, scale, top, step = 292, 370, 92, 40
    bottom = top + step * len(nets)
    svg = Svg(760, bottom + 66, "Time of nnrt divided by the time of other runtimes, ten networks, one thread")
    svg.text(16, 28, "Time of nnrt divided by the time of the peer", size=16, weight="600")
    svg.text(16, 48, "float32, batch 1, one thread, device cpu; shorter is better, below 1.0 nnrt is faster", "soft")
    svg.bar(16, 62, 12, 12, "own")
    svg.text(34, 72, "ONNX Runtime 1.30")
    svg.bar(176, 62, 12, 12, "other")
    svg.text(194, 72, "the quickest peer, named at the bar")
    for tick in (0, 0.25, 0.5, 0.75, 1.0):
        x = left + scale * tick
        svg.line(x, top - 4, x, bottom, tick not in (0, 1.0))
        svg.text(x, bottom + 16, "%g" % tick, "soft", 12, "middle")
    for place, (net, bars) in enumerate(nets.items()):
        y = top + step * place
        svg.text(left - 10, y + 21, net, anchor="end")
        for number, (peer, row) in enumerate(bars):
            if peer.startswith("quickest: ") != (number == 1):
                raise ValueError("%s: %s: expected ONNX Runtime and then the quickest peer" % (FIGURES.name, net))
            at, name = y + 2 + 15 * number, peer.replace("quickest: ", "")
            svg.bar(left, at, scale * row["value"], 13, "other" if number else "own")
            svg.text(left + scale * row["value"] + 5, at + 11, row["shown"] + ("  " + name if number else ""), "text", 12)
    svg.text(16, bottom + 40, "%s, %s. ONNX Runtime: in turn with nnrt in one process." % (first["date"], first["machine"]),
             "soft", 12)
    svg.text(16, bottom + 56, "XNNPACK and ncnn: as ratios to ONNX Runtime, measured on 2026-11-20 on this kind of machine.",
             "soft", 12)
    return svg.finish()


def draw_mcu(figures):
    """Bars of the networks of MLPerf Tiny on a Cortex-M4: instructions of nnrt, and cycles of published entries."""
    nets = {}
    for row in select(figures, "mcu-network"):
        net, who = row["subject"].split(" | ")
        nets.setdefault(net, []).append((who, row))
    left, scale, top, step = 210, 76, 92, 62
    bottom = top + step * len(nets)
    svg = Svg(760, bottom + 58, "Networks of MLPerf Tiny on a Cortex-M4: nnrt and published entries")
    svg.text(16, 28, "MLPerf Tiny on a Cortex-M4, int8, per multiply-accumulate", size=16, weight="600")
    svg.bar(16, 46, 12, 12, "own")
    svg.text(34, 56, "nnrt, instructions")
    svg.bar(176, 46, 12, 12, "other")
    svg.text(194, 56, "best entry, cycles (closed source)")
    svg.bar(424, 46, 12, 12, "peer")
    svg.text(442, 56, "best open entry, cycles (microTVM, CMSIS-NN)")
    svg.text(16, 76, "shorter is better; different units: an instruction takes one cycle or more, and flash adds wait states", "soft")
    for place, (net, bars) in enumerate(nets.items()):
        y = top + step * place
        svg.text(left - 10, y + 30, net, anchor="end")
        for number, (who, row) in enumerate(bars):
            at = y + 2 + 18 * number
            svg.bar(left, at, scale * row["value"], 16, ("own", "other", "peer")[number])
            svg.text(left + scale * row["value"] + 5, at + 13, row["shown"] + ("  " + who.split(": ")[1] if number == 1 else ""),
                     "text", 12)
    svg.line(left, top - 2, left, bottom - 4)
    first = next(iter(nets.values()))[0][1]
    svg.text(16, bottom + 18, "nnrt: %s, %s, make mlperf-tiny." % (first["date"], first["machine"]), "soft", 12)
    svg.text(16, bottom + 36, "Entries: software only, MLPerf Tiny v1.0 to v1.3.", "soft", 12)
    return svg.finish()


def draw_firmware(figures):
    """Code on a Cortex-M4 beside CMSIS-NN, and a whole program beside onnx2c and libonnx."""
    code, programs = select(figures, "firmware-code"), select(figures, "firmware-program")
    left, room, step = 210, 400, 24
    top = 76
    middle = top + step * len(code) + 20
    second = middle + 48
    svg = Svg(760, second + step * len(programs) + 70, "Code size of nnrt and of peers on a Cortex-M4 and on x86-64")
    svg.text(16, 28, "Code size, KB", size=16, weight="600")

    def bars(rows, y, label):
        most = max(row["value"] for row in rows)
        for row in rows:
            name = label(row)
            width = room * row["value"] / most
            svg.text(left - 10, y + 14, name, anchor="end")
            svg.bar(left, y + 2, width, 16, "own" if "nnrt" in name else "peer")
            svg.text(left + width + 6, y + 15, row["shown"] + " KB")
            y += step
        svg.line(left, y - step * len(rows) - 2, left, y + 2)

    svg.text(16, 54, "int8 kernels: convolution, depthwise, fully connected, add, pools, softmax; Cortex-M4, %s" % code[0]["date"])
    bars(code, top - 10, lambda row: "%s, %s" % tuple(reversed(row["subject"].split(" | "))))
    svg.text(16, middle + 10, "Program that runs LeNet in float32, without its weights, %s, -Os" % programs[0]["machine"])
    bars(programs, middle + 24, lambda row: row["subject"])
    end = middle + 24 + step * len(programs)
    svg.text(16, end + 22, "nnrt: device mcu:cortex-m4; at -O2 its kernels take 10.4 KB.", "soft", 12)
    svg.text(16, end + 38, "onnx2c writes one program for one model. libonnx contains all its operators and no model.",
             "soft", 12)
    svg.text(16, end + 54, "%s. Versions and options: docs/figures.tsv." % "; ".join(
        "%s %s" % (row["subject"].split(",")[0], row["date"]) for row in programs), "soft", 12)
    svg.height = end + 66
    return svg.finish()


def outline(pixels, left, top, size, low, high):
    """Path data of the pixels with low <= value < high: one rectangle a run of a row."""
    d = []
    for y, row in enumerate(pixels):
        x = 0
        while x < len(row):
            end = x
            while end < len(row) and low <= row[end] < high:
                end += 1
            if end > x:
                d.append("M%g %gh%gv%gh-%gz" % (left + x * size, top + y * size, (end - x) * size, size, (end - x) * size))
            x = max(end, x + 1)
    return "".join(d)


def draw_digits(figures):
    """Digits of the sheet, each with the answer of the network and its confidence."""
    _, _, sheet = read_png(SHEET)
    side, size, cell, tall = 28, 2, 72, 102
    rows = select(figures, "digits")
    lines = (len(rows) + 9) // 10
    levels = ((64, 128, 0.35), (128, 192, 0.65), (192, 256, 1))
    svg = Svg(10 * cell + 24, lines * tall + 30, "Handwritten digits that nnrt recognizes, with answer and confidence")
    shapes = {opacity: "" for _, _, opacity in levels}
    for place, row in enumerate(rows):
        found = re.fullmatch(r"row (\d+), column (\d+): (\d)", row["subject"])
        if found is None:
            raise ValueError("%s: the subject is %s, expected row R, column C: ANSWER" % (FIGURES.name, row["subject"]))
        r, c, answer = map(int, found.groups())
        pixels = [line[c * side:(c + 1) * side] for line in sheet[r * side:(r + 1) * side]]
        x, y = 12 + place % 10 * cell, 8 + place // 10 * tall
        for low, high, opacity in levels:
            shapes[opacity] += outline(pixels, x + (cell - side * size) // 2, y, size, low, high)
        svg.text(x + cell / 2, y + side * size + 22, "%d" % answer, "own", 18, "middle", "600")
        svg.text(x + cell / 2, y + side * size + 36, "%s %%" % row["shown"], "soft", 11, "middle")
    for opacity, d in shapes.items():
        svg.path(d, "text", opacity)
    svg.text(12, lines * tall + 18, "%d of the 100 digits of the sheet, with the answer and the confidence that %s prints "
             "(%s)" % (len(rows), rows[0]["source"], rows[0]["date"]), "soft", 12)
    return svg.finish()


def draw_terminal(example, title, tinted):
    """What an example prints, from the first block of text in its README: the block characters U+2581 to U+2588, bars of
    1 to 8 eighths of a line, as rectangles, other characters as text, and the lines that match `tinted` in the color of
    the bars."""
    page = ROOT / "examples" / example / "README.md"
    found = re.search(r"^```text\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    if found is None:
        raise ValueError("%s: no block of text" % page)
    wide, tall, left, top = 8, 16, 16, 44
    lines = [line.rstrip() for line in found.group(1).splitlines()]
    svg = Svg(2 * left + wide * max(map(len, lines)), top + tall * len(lines) + 14, title)
    svg.text(left, 28, "make %s" % example, "soft")
    for row, line in enumerate(lines):
        y = top + tall * row
        for word in re.finditer(r"[^ \u2581-\u2588]+( [^ \u2581-\u2588]+)*|[\u2581-\u2588]", line):
            x, text = left + wide * word.start(), word.group()
            high = tall * (ord(text[0]) - 0x2580) / 8
            if 0 < high <= tall:
                svg.bar(x, y + tall - high, wide, high, "own")
            else:
                svg.fixed(x, y + 12, text, "own" if re.match(tinted, line) else "text", wide)
    return svg.finish()


PICTURES = {
    "speed.svg": draw_speed, "mcu.svg": draw_mcu, "firmware.svg": draw_firmware, "digits.svg": draw_digits,
    "vad.svg": lambda _: draw_terminal("vad", "Level of a sound, probability of speech, and detected speech", "speech "),
    "wake.svg": lambda _: draw_terminal("wake", "Times and scores of wake words in a sound", r" *\d+\.\d\d s "),
}


def main(arguments):
    """Writes or compares; the exit status."""
    if arguments not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        figures = read_figures()
        drawn = {name: draw(figures) for name, draw in PICTURES.items()}
    except (OSError, ValueError, zlib.error) as fault:
        print("pictures.py: %s" % fault, file=sys.stderr)
        return 1
    differ = 0
    for name, text in drawn.items():
        path = ROOT / "docs" / name
        if not arguments:
            path.write_text(text, encoding="utf-8", newline="\n")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            print("docs/%s differs from the picture of its figures or its text; run: make pictures" % name)
            differ = 1
    return differ


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
